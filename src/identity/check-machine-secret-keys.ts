/**
 * Checks that this machine has the secret keys that the database needs. With other keys the service starts, but links
 * in sent mail fail and sealed values cannot be opened. Also checks that the first key may be used: all running
 * processes must be able to open what it seals.
 */
import { hostname } from "node:os";
import type { Queryable } from "#platform/database/pool.ts";
import type { Log } from "#platform/log/log.ts";
import { RepeatedFaults } from "#platform/log/repeated-faults.ts";
import {
  listRunningRings,
  listSecretKeys,
  lockSecretKeys,
  noteKeyUse,
  type RunningRing,
  saveSecretKey,
} from "#platform/secrets/key-fingerprints-store.ts";
import { newSecretKey } from "#platform/secrets/key-ring.ts";
import { createSecrets, type Secrets, shortFingerprint } from "#platform/secrets/secrets.ts";
import { typedCommand } from "#platform/typed-command.ts";

/** How often a process says that its keys are out of date. */
const LOGGED_MS = 60_000;

/** Why a process with these keys must not start, as an Error for the operator; null when it may. Changes nothing. */
export async function secretKeyFault(db: Queryable, secrets: Secrets): Promise<Error | null> {
  const known = await listSecretKeys(db);
  const needed = known.filter(({ retired_at }) => retired_at === null);
  const [first, ...others] = secrets.fingerprints;
  const has = (fingerprint: Buffer) => secrets.fingerprints.some((own) => own.equals(fingerprint));
  if (needed.length === 0) return null;
  const missing = needed.filter(({ fingerprint }) => !has(fingerprint));
  if (missing.length === needed.length) return foreignKeyError();
  if (missing.length > 0) return missingKeysError(missing.map(({ fingerprint }) => fingerprint));
  const kept = known.find(({ fingerprint }) => fingerprint.equals(first));
  if (kept?.retired_at) {
    const order = others.map(shortFingerprint).join(" or ");
    return new Error(
      `the first secret key of this machine, ${shortFingerprint(first)}, is retired: put ${order} first in SECRET_KEY (or secret.key in DATA_DIR) and leave the retired one out`,
    );
  }
  if (kept !== undefined) return null;
  const behind = await processesWithout(db, first);
  return behind.length === 0 ? null : notEverywhereError(first, behind);
}

/** Why a machine without a secret key must not generate one: the database was used with another. Null when it may. */
export function firstKeyFault(db: Queryable): Promise<Error | null> {
  return secretKeyFault(db, createSecrets(newSecretKey()));
}

/** Running processes that cannot open what this key seals. */
export async function processesWithout(db: Queryable, fingerprint: Buffer): Promise<RunningRing[]> {
  const rings = await listRunningRings(db);
  return rings.filter(({ fingerprints }) => !fingerprints.some((one) => one.equals(fingerprint)));
}

/** Such as "mail1 (process 4711), mail2 (process 12)". */
export function processNames(processes: readonly Pick<RunningRing, "host" | "pid">[]): string {
  return processes.map(({ host, pid }) => `${host} (process ${pid})`).join(", ");
}

/**
 * What the operator must do so that all running processes sign with the first of these keys, such as "restart the
 * service (mail1, process 4711), which still signs with 783e02c4"; null when all do.
 */
export function restartAdvice(running: readonly RunningRing[], secrets: Secrets): string | null {
  const [own] = secrets.fingerprints;
  const late = running.filter(({ fingerprints }) => fingerprints[0]?.equals(own) === false);
  if (late.length === 0) return null;
  const where = late.map(({ host, pid }) => `${host}, process ${pid}`).join("; ");
  const earlier = new Set(late.flatMap(({ fingerprints }) => fingerprints.slice(0, 1).map(shortFingerprint)));
  const elsewhere = new Set(late.map(({ host }) => host).filter((host) => host !== hostname()));
  const first =
    elsewhere.size === 0
      ? ""
      : `give ${[...elsewhere].join(", ")} the same keys in the same order as this machine, then `;
  return `${first}restart the service (${where}), which still signs with ${[...earlier].join(" or ")}`;
}

/**
 * Registers the first key as in use.
 * @throws an Error for the operator when it must not be used
 */
export async function requireUsableKeys(tx: Queryable, secrets: Secrets): Promise<void> {
  await lockSecretKeys(tx);
  const fault = await secretKeyFault(tx, secrets);
  if (fault !== null) throw fault;
  const [first] = secrets.fingerprints;
  const known = await listSecretKeys(tx);
  if (known.some(({ fingerprint }) => fingerprint.equals(first))) await noteKeyUse(tx, first);
  else await saveSecretKey(tx, first);
}

/** Looks after the keys of a running process. */
export class SecretKeyWatch {
  readonly #db: Queryable;
  readonly #secrets: Secrets;
  readonly #faults: RepeatedFaults;

  constructor(db: Queryable, secrets: Secrets, log: Log) {
    this.#db = db;
    this.#secrets = secrets;
    this.#faults = new RepeatedFaults(log, LOGGED_MS);
  }

  /** Records that the first key is in use, and logs while the process lacks a key that is needed now. */
  async look(): Promise<void> {
    await noteKeyUse(this.#db, this.#secrets.fingerprints[0]);
    const fault = await secretKeyFault(this.#db, this.#secrets);
    if (fault === null) return;
    const message = `the secret keys of this process are out of date: ${fault.message}`;
    this.#faults.note({ kind: "secret keys", level: "error", message, fields: {} }, "renewal");
  }
}

export function foreignKeyError(): Error {
  return new Error(
    "the database belongs to another secret key than this machine has (SECRET_KEY, or secret.key in DATA_DIR). " +
      "Start with the key that the database was used with: every machine has the same, and a backup of it belongs to " +
      `every backup of the database. If it is lost for good, \`${typedCommand("secret-key accept")}\` makes this one ` +
      "the database's; docs/operations.md#a-missing-or-wrong-secret-key says what then has to be created again",
  );
}

function missingKeysError(missing: readonly Buffer[]): Error {
  const names = missing.map(shortFingerprint).join(", ");
  return new Error(
    `this machine lacks a secret key that the database needs: ${names}. Add it to SECRET_KEY (or to secret.key in ` +
      "DATA_DIR), as on the other machines, with a comma between keys, and start again. A key may be left out only after " +
      `\`${typedCommand("secret-key retire FINGERPRINT")}\`; docs/operations.md#rotate-the-secret-key has the steps`,
  );
}

function notEverywhereError(first: Buffer, behind: readonly RunningRing[]): Error {
  return new Error(
    `the first secret key of this machine, ${shortFingerprint(first)}, is new, and what it seals could not be opened by ` +
      `${processNames(behind)}. Put the new key behind the one in use (SECRET_KEY=old,new), restart every machine so, and only ` +
      "then put it first; a process that was killed is forgotten after 90 s. docs/operations.md#rotate-the-secret-key",
  );
}

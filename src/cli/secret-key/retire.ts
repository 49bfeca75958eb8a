/** `posthaste secret-key retire`: marks a key as no longer needed. Refused while a sealed value needs it or a process signs with it. */
import { processNames } from "#identity/check-machine-secret-keys.ts";
import { counted } from "#platform/count-phrase.ts";
import type { Database, Queryable } from "#platform/database/pool.ts";
import {
  type KnownKey,
  listRunningRings,
  listSecretKeys,
  lockSecretKeys,
  retireSecretKey,
} from "#platform/secrets/key-fingerprints-store.ts";
import { countSealed } from "#platform/secrets/reseal-store.ts";
import { shortFingerprint } from "#platform/secrets/secrets.ts";
import { DAY_MS } from "#platform/time-units.ts";
import { typedCommand } from "#platform/typed-command.ts";
import type { MachineKeys } from "./machine-keys.ts";
import { sealedColumns } from "./sealed-columns.ts";

/** Digits of a fingerprint that name a key, so that a typing error does not name another key. */
const LEAST_DIGITS = 8;

/**
 * @param isSure if false, throws an Error that says what would be lost, and changes nothing
 * @returns what was done and what the operator has to do
 * @throws an Error for the operator if the key is still needed
 */
export async function retire(
  db: Database,
  keys: MachineKeys,
  named: string,
  isSure: boolean,
): Promise<string> {
  const key = await findKey(db, named);
  const { fingerprint } = key;
  const name = shortFingerprint(fingerprint);
  const position = keys.secrets.fingerprints.findIndex((own) => own.equals(fingerprint));
  if (key.retired_at !== null) return removed(keys, position, name);
  if (position === 0) {
    throw new Error(`${name} is the key in use: rotate to another key first`);
  }
  await refuseWhileUsed(db, fingerprint);
  const { byPosition, unopened } = await countSealed(db, keys.secrets, sealedColumns);
  const needing = position < 0 ? unopened : (byPosition[position] ?? 0);
  if (needing > 0) {
    const how =
      position < 0
        ? "this machine lacks the key and cannot seal them again: add it to the other keys first"
        : `\`${typedCommand("secret-key rotate")}\` seals them again with the first key`;
    throw new Error(`${counted(needing, "sealed value")} may need ${name}: ${how}`);
  }
  const warning = lossOf(key, name);
  if (!isSure) throw new Error(`${warning} Nothing has changed: add --yes to retire it`);
  await db.transaction(async (tx) => {
    await lockSecretKeys(tx);
    await refuseWhileUsed(tx, fingerprint);
    const now = await findKey(tx, named);
    if (now.last_used_at?.getTime() !== key.last_used_at?.getTime()) {
      throw new Error(`${name} was used in the meantime: try again`);
    }
    await retireSecretKey(tx, fingerprint);
  });
  return `${warning}\n${removed(keys, position, name)}`;
}

async function findKey(db: Queryable, named: string): Promise<KnownKey> {
  const digits = named.toLowerCase();
  const known = await listSecretKeys(db);
  const meant = known.filter(({ fingerprint }) => fingerprint.toString("hex").startsWith(digits));
  const [key] = meant;
  if (digits.length < LEAST_DIGITS || key === undefined || meant.length > 1) {
    const names = known.map(({ fingerprint }) => shortFingerprint(fingerprint)).join(", ");
    throw new Error(`${named} is not the fingerprint of one key: the database knows ${names || "none"}`);
  }
  return key;
}

async function refuseWhileUsed(db: Queryable, fingerprint: Buffer): Promise<void> {
  const rings = await listRunningRings(db);
  const users = rings.filter(({ fingerprints }) => fingerprints[0]?.equals(fingerprint));
  if (users.length === 0) return;
  throw new Error(
    `${processNames(users)} still ${users.length === 1 ? "signs" : "sign"} with ${shortFingerprint(fingerprint)}: put the new key first there and restart the service`,
  );
}

function lossOf({ last_used_at: last }: KnownKey, name: string): string {
  const days = last && Math.floor((Date.now() - last.getTime()) / DAY_MS);
  const newest =
    last === null
      ? "; when the newest was signed is not known"
      : `, the newest of them from ${last.toISOString()} (${counted(days ?? 0, "day")} ago)`;
  return `Without ${name}, links (unsubscribing, tracking, confirmations, sign-up forms), return paths and SMS receipts that were signed with it are no longer recognised${newest}.`;
}

function removed(keys: MachineKeys, position: number, name: string): string {
  if (position < 0) return `${name} is retired.\n`;
  if (keys.file === null) {
    return `${name} is retired: take it out of SECRET_KEY on every machine and restart. Keep it with backups from its time.\n`;
  }
  const [first, ...others] = keys.ring;
  keys.write([first, ...others.filter((_, index) => index !== position - 1)]);
  return `${name} is retired and no longer in ${keys.file}. The service forgets it when it is restarted.\n`;
}

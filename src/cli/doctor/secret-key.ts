/** Checks whether the service accepts this machine's secret keys (identity/check-machine-secret-keys.ts), and the state of a rotation. */

import { sealedColumns } from "#cli/secret-key/sealed-columns.ts";
import {
  foreignKeyError,
  processesWithout,
  processNames,
  restartAdvice,
  secretKeyFault,
} from "#identity/check-machine-secret-keys.ts";
import type { Config } from "#platform/config/config.ts";
import { counted } from "#platform/count-phrase.ts";
import type { Database } from "#platform/database/pool.ts";
import { sentence } from "#platform/error-sentence.ts";
import { type KnownKey, listRunningRings, listSecretKeys } from "#platform/secrets/key-fingerprints-store.ts";
import { findSecretKeys } from "#platform/secrets/key-ring.ts";
import { countSealed } from "#platform/secrets/reseal-store.ts";
import { createSecrets, type Secrets, shortFingerprint } from "#platform/secrets/secrets.ts";
import { typedCommand } from "#platform/typed-command.ts";
import { type Finding, of } from "./finding.ts";

const ROTATE = `\`${typedCommand("secret-key rotate")}\``;

/** Does not create a missing key. */
export async function checkSecretKey(
  db: Database,
  { SECRET_KEY, DATA_DIR }: Pick<Config, "SECRET_KEY" | "DATA_DIR">,
): Promise<Finding> {
  const say = of("secret key");
  try {
    const ring = findSecretKeys(SECRET_KEY, DATA_DIR);
    if (ring === undefined) {
      if ((await listSecretKeys(db)).length > 0) return say("fault", `${sentence(foreignKeyError())}.`);
      return say("not_checked", "There is none yet: the first start creates it.");
    }
    const secrets = createSecrets(...ring);
    const fault = await secretKeyFault(db, secrets);
    if (fault !== null) return say("fault", `${sentence(fault)}.`);
    const unfinished = await rotationState(db, secrets);
    if (unfinished !== null) return say("warning", unfinished);
    const [, ...earlier] = secrets.fingerprints.map(shortFingerprint);
    const kept = earlier.length === 0 ? "" : ` Earlier keys still open and verify: ${earlier.join(", ")}.`;
    return say("ok", `It is the key that the database was set up with.${kept}`);
  } catch (fault) {
    return say("fault", `The secret key cannot be read: ${sentence(fault)}.`);
  }
}

/** The next step of an unfinished rotation; null if none is unfinished. */
async function rotationState(db: Database, secrets: Secrets): Promise<string | null> {
  const known = await listSecretKeys(db);
  const [first, ...others] = secrets.fingerprints;
  const isNew = (fingerprint: Buffer) => !known.some((one) => one.fingerprint.equals(fingerprint));
  const prepared = others.find((fingerprint) => known.length > 0 && isNew(fingerprint));
  if (prepared !== undefined) {
    const behind = await processesWithout(db, prepared);
    const name = shortFingerprint(prepared);
    return behind.length === 0
      ? `A rotation is under way: every running process has the new key ${name}. Run ${ROTATE}.`
      : `A rotation is under way: restart the service with the new key ${name} (${processNames(behind)}).`;
  }
  const running = await listRunningRings(db);
  const late = restartAdvice(running, secrets);
  if (late !== null) {
    const ahead = running.filter(({ fingerprints: [other] }) => other && isLater(known, other, first));
    return ahead.length === 0
      ? `A rotation is not complete yet: ${late}.`
      : `This machine's first key ${shortFingerprint(first)} is an earlier one than that of ${processNames(ahead)}. Give all machines the same keys in the same order, and restart the service.`;
  }
  if (others.length === 0) return null;
  const { byPosition } = await countSealed(db, secrets, sealedColumns);
  const left = byPosition.slice(1).reduce((sum, count) => sum + count, 0);
  return left === 0
    ? null
    : `${counted(left, "value")} ${left === 1 ? "is" : "are"} still sealed with an earlier key: ${ROTATE} seals again.`;
}

/** Whether one key was added to the database later than another. */
function isLater(known: readonly KnownKey[], one: Buffer, other: Buffer): boolean {
  const at = (key: Buffer) => known.findIndex(({ fingerprint }) => fingerprint.equals(key));
  return at(one) > at(other);
}

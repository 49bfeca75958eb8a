/** Whether the service could start with this machine's secret keys, or would refuse to (identity/own-key.ts), and how far a rotation is. */

import { sentence } from "#cli/command/sentence.ts";
import { sealedColumns } from "#cli/secret-key/sealed-columns.ts";
import { foreignKey, keyFault, namesOf, processesWithout } from "#identity/own-key.ts";
import type { Config } from "#platform/config/config.ts";
import type { Database } from "#platform/database/pool.ts";
import { findSecretKeys } from "#platform/secrets/key-ring.ts";
import { countSealed } from "#platform/secrets/sealed-store.ts";
import { listRunningRings, listSecretKeys } from "#platform/secrets/secret-key-store.ts";
import { createSecrets, type Secrets, shortFingerprint } from "#platform/secrets/secrets.ts";
import { type Finding, of } from "./finding.ts";

/** Makes no key where there is none. */
export async function checkSecretKey(
  db: Database,
  { SECRET_KEY, DATA_DIR }: Pick<Config, "SECRET_KEY" | "DATA_DIR">,
): Promise<Finding> {
  const say = of("secret key");
  try {
    const ring = findSecretKeys(SECRET_KEY, DATA_DIR);
    if (ring === undefined) {
      if ((await listSecretKeys(db)).length > 0) return say("fault", `${sentence(foreignKey())}.`);
      return say("not_checked", "There is none yet: the first start makes it.");
    }
    const secrets = createSecrets(...ring);
    const fault = await keyFault(db, secrets);
    if (fault !== null) return say("fault", `${sentence(fault)}.`);
    const unfinished = await rotationState(db, secrets);
    if (unfinished !== null) return say("warning", unfinished);
    const [, ...earlier] = secrets.fingerprints.map(shortFingerprint);
    const kept = earlier.length === 0 ? "" : ` Earlier keys still open and verify: ${earlier.join(", ")}.`;
    return say("ok", `It is the one that the database belongs to.${kept}`);
  } catch (fault) {
    return say("fault", `The secret key cannot be read: ${sentence(fault)}.`);
  }
}

/** What is left to do of a rotation; null where none is under way. */
async function rotationState(db: Database, secrets: Secrets): Promise<string | null> {
  const known = await listSecretKeys(db);
  const [first, ...others] = secrets.fingerprints;
  const isNew = (fingerprint: Buffer) => !known.some((one) => one.fingerprint.equals(fingerprint));
  const prepared = others.find((fingerprint) => known.length > 0 && isNew(fingerprint));
  if (prepared !== undefined) {
    const behind = await processesWithout(db, prepared);
    const name = shortFingerprint(prepared);
    return behind.length === 0
      ? `A rotation is under way: every running process has the new key ${name}. Run secret-key rotate.`
      : `A rotation is under way: ${namesOf(behind)} must be restarted with the new key ${name}.`;
  }
  const late = (await listRunningRings(db)).filter(({ fingerprints }) => !fingerprints[0]?.equals(first));
  if (late.length > 0) {
    return `Other processes have another first key than this machine: ${namesOf(late)}. Give all machines the same keys in the same order, and restart them.`;
  }
  if (others.length === 0) return null;
  const { byPosition } = await countSealed(db, secrets, sealedColumns);
  const left = byPosition.slice(1).reduce((sum, count) => sum + count, 0);
  return left === 0
    ? null
    : `${left} values are still sealed with an earlier key: run secret-key rotate to seal them again.`;
}

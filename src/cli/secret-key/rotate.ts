/**
 * `posthaste secret-key rotate`: takes the next safe step of a rotation. No key seals or signs before every running
 * process can open what it seals, so a rotation is:
 *
 * 1. a new key behind the one in use, on every machine;
 * 2. the new key first, and everything sealed again with it;
 * 3. when the old key is no longer needed, `secret-key retire`.
 *
 * Each run determines the next step from the database. It may be interrupted at any point and repeated.
 */
import {
  processesWithout,
  processNames,
  requireUsableKeys,
  restartAdvice,
} from "#identity/check-machine-secret-keys.ts";
import { counted } from "#platform/count-phrase.ts";
import type { Database } from "#platform/database/pool.ts";
import { listRunningRings, listSecretKeys } from "#platform/secrets/key-fingerprints-store.ts";
import { MOST_KEYS, newSecretKey } from "#platform/secrets/key-ring.ts";
import { countSealed, resealAll } from "#platform/secrets/reseal-store.ts";
import { shortFingerprint } from "#platform/secrets/secrets.ts";
import { typedCommand } from "#platform/typed-command.ts";
import type { MachineKeys } from "./machine-keys.ts";
import { sealedColumns } from "./sealed-columns.ts";

const AGAIN = typedCommand("secret-key rotate");

/**
 * Takes the next step and says what is done and what comes next.
 *
 * @param beginsAnother begins a rotation although keys of earlier ones are still in use
 * @throws an Error for the operator when a step on another machine has to come first
 */
export async function rotate(db: Database, keys: MachineKeys, beginsAnother: boolean): Promise<string> {
  const before = await listSecretKeys(db);
  await db.transaction((tx) => requireUsableKeys(tx, keys.secrets));
  const known = await listSecretKeys(db);
  if (before.length > 0 && known.length > before.length) return seal(db, keys);
  const [, ...others] = keys.secrets.fingerprints;
  const isKnown = (fingerprint: Buffer) => known.some((one) => one.fingerprint.equals(fingerprint));
  const prepared = others.findIndex((fingerprint) => !isKnown(fingerprint));
  if (prepared >= 0) return promote(db, keys, prepared + 1);
  const { byPosition, unopened } = await countSealed(db, keys.secrets, sealedColumns);
  const total = byPosition.reduce((sum, count) => sum + count, 0);
  if (byPosition[0] !== total) return seal(db, keys);
  if (others.length > 0 && !beginsAnother) return remaining(db, keys, unopened);
  return begin(db, keys);
}

/** Step 1, or both steps at once where no process runs. */
async function begin(db: Database, keys: MachineKeys): Promise<string> {
  if (keys.ring.length >= MOST_KEYS) {
    throw new Error(`there are ${MOST_KEYS} keys already: retire one first (secret-key list shows them)`);
  }
  const key = newSecretKey();
  const [first, ...others] = keys.ring;
  if (keys.file === null) {
    return `A new secret key, shown this once:

    ${key}

Nothing has changed yet. Add it to SECRET_KEY on every machine, behind the key in use (SECRET_KEY=old,new),
restart every machine, and run \`${AGAIN}\` again.
`;
  }
  const running = await listRunningRings(db);
  if (running.length === 0) return seal(db, keys.write([key, first, ...others]));
  keys.write([first, key, ...others]);
  return `A new secret key is in ${keys.file}, behind the one in use. It seals nothing yet.
Give machines with another DATA_DIR the same file, restart the service on every machine (${processNames(running)}),
and run \`${AGAIN}\` again.
`;
}

/** Step 2 in the file; SECRET_KEY is changed by the operator. */
async function promote(db: Database, keys: MachineKeys, position: number): Promise<string> {
  const fingerprint = keys.secrets.fingerprints[position];
  const key = keys.ring[position];
  if (fingerprint === undefined || key === undefined) throw new RangeError(`no key at ${position}`);
  const behind = await processesWithout(db, fingerprint);
  if (behind.length > 0) {
    const where = keys.file === null ? "SECRET_KEY" : `a copy of ${keys.file}`;
    throw new Error(
      `the new secret key ${shortFingerprint(fingerprint)} is not yet known to ${processNames(behind)}: give every machine the same keys (${where}), restart it, and run this again; a process that was killed is forgotten after 90 s`,
    );
  }
  if (keys.file === null) {
    throw new Error(
      `every running process knows the new secret key ${shortFingerprint(fingerprint)}: put it first in SECRET_KEY on every machine (SECRET_KEY=new,old), restart every machine, and run this again`,
    );
  }
  return seal(db, keys.write([key, ...keys.ring.filter((other) => other !== key)]));
}

/** The rest of step 2: marks the first key as in use, and seals the values of other keys again with it. */
async function seal(db: Database, keys: MachineKeys): Promise<string> {
  await db.transaction((tx) => requireUsableKeys(tx, keys.secrets));
  const resealed = await resealAll(db, keys.secrets, sealedColumns);
  const { unopened } = await countSealed(db, keys.secrets, sealedColumns);
  const again = resealed === 1 ? "is sealed again" : "are sealed again";
  const name = shortFingerprint(keys.secrets.fingerprints[0]);
  return `${counted(resealed, "sealed value")} ${again}, with ${name}.\n${await remaining(db, keys, unopened)}`;
}

/** After all values are sealed with the first key: says which restart remains, or that the rotation is complete. */
async function remaining(db: Database, { secrets }: MachineKeys, unopened: number): Promise<string> {
  const [first, ...earlier] = secrets.fingerprints.map(shortFingerprint);
  const lost =
    unopened === 0
      ? ""
      : `No key of this machine opens ${counted(unopened, "sealed value")}: nothing was changed there.\n`;
  const late = restartAdvice(await listRunningRings(db), secrets);
  if (late !== null) {
    return `${lost}Everything is sealed with ${first}. One step is left: ${late}. Then the rotation is complete.\n`;
  }
  const needed = earlier.length === 1 ? "it is" : "they are";
  return `${lost}The rotation to ${first} is complete. Still in the ring, for links and return paths in mail that has left: ${earlier.join(", ")}.
When ${needed} no longer needed: \`${typedCommand("secret-key retire FINGERPRINT")}\`. To begin another rotation before that: \`${AGAIN} --another\`.
`;
}

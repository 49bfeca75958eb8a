/**
 * Whether this machine's SECRET_KEY is the one that the database belongs to. With another one everything would seem to
 * work, but links in mail that has left would lead nowhere and nothing that lies sealed could be opened.
 */

import type { Database } from "../platform/database/pool.ts";
import { findFingerprint, insertFingerprint } from "../platform/secret-key-store.ts";
import type { Secrets } from "../platform/secrets.ts";
import { canOpenDkimKeys } from "./dkims/signing-key.ts";

/** Whether it is, by looking alone. A database that is nobody's yet takes any key. */
export async function isOwnKey(db: Database, secrets: Secrets): Promise<boolean> {
  const kept = await findFingerprint(db);
  return kept === undefined ? canOpenDkimKeys(db, secrets) : kept.equals(secrets.fingerprint);
}

/** The database's first key becomes its own. @throws an Error for the operator when it has another one */
export async function requireOwnKey(db: Database, secrets: Secrets): Promise<void> {
  const kept = await findFingerprint(db);
  if (kept === undefined) {
    // From before there were fingerprints, or new: what lies sealed in it says whose it is.
    if (!(await canOpenDkimKeys(db, secrets))) throw foreignKey();
    await insertFingerprint(db, secrets.fingerprint);
  }
  // Another machine may have been first.
  const own = kept ?? (await findFingerprint(db));
  if (!own?.equals(secrets.fingerprint)) throw foreignKey();
}

export function foreignKey(): Error {
  return new Error(
    "the database belongs to another secret key than this machine has (SECRET_KEY, or secret.key in DATA_DIR). " +
      "Start with the key that the database was used with: every machine has the same, and a backup of it belongs to " +
      "every backup of the database. If it is lost for good, `npm run -s posthaste -- secret-key accept` makes this one " +
      "the database's; docs/operations.md#backup says what then has to be made anew",
  );
}

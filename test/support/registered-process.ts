/** Registers this process with the keys, as `serve` does. */
import { requireUsableKeys, SecretKeyWatch } from "#identity/check-machine-secret-keys.ts";
import type { Database } from "#platform/database/pool.ts";
import { createLog, type Log } from "#platform/log/log.ts";
import { ProcessRegistration } from "#platform/process/process-registration.ts";
import type { Secrets } from "#platform/secrets/secrets.ts";

export function registerProcess(
  db: Database,
  secrets: Secrets,
  log: Log = createLog("silent"),
): Promise<ProcessRegistration> {
  const keys = new SecretKeyWatch(db, secrets, log);
  return ProcessRegistration.begin(
    { db, log, roles: ["api"], keyFingerprints: secrets.fingerprints, onRenewed: () => keys.look() },
    (tx) => requireUsableKeys(tx, secrets),
  );
}

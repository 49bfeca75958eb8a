/** The secret keys of the machine on which a command runs, and their file. */
import type { Config } from "#platform/config/config.ts";
import { findSecretKeys, keyFile, type SecretKeyRing, writeKeyFile } from "#platform/secrets/key-ring.ts";
import { createSecrets, type Secrets } from "#platform/secrets/secrets.ts";

export interface MachineKeys {
  readonly ring: SecretKeyRing;
  readonly secrets: Secrets;
  /** The file; null when the operator has set SECRET_KEY, which only the operator can change. */
  readonly file: string | null;
  /** Replaces the ring in the file. */
  write(ring: SecretKeyRing): MachineKeys;
}

/** @throws an Error if there are none: a key that a command created would differ from the service's key */
export function machineKeys({ SECRET_KEY, DATA_DIR }: Pick<Config, "SECRET_KEY" | "DATA_DIR">): MachineKeys {
  const found = findSecretKeys(SECRET_KEY, DATA_DIR);
  if (found === undefined) {
    throw new Error(
      `there is no secret key here: set SECRET_KEY, or DATA_DIR to the folder with the service's secret.key (${keyFile(DATA_DIR)} does not exist)`,
    );
  }
  const file = SECRET_KEY === null ? keyFile(DATA_DIR) : null;
  const withRing = (ring: SecretKeyRing): MachineKeys => ({
    ring,
    secrets: createSecrets(...ring),
    file,
    write(next) {
      if (file === null) throw new TypeError("SECRET_KEY is the operator's to change");
      writeKeyFile(DATA_DIR, next);
      return withRing(next);
    },
  });
  return withRing(found);
}

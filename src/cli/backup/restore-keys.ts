/** Which secret keys a restored database needs, and how this machine gets them. */
import { rmSync } from "node:fs";
import type { CliOptions } from "#cli/command/command-dependencies.ts";
import { readConfig } from "#platform/config/config.ts";
import type { BackupHeader } from "#platform/database/backup/backup-format.ts";
import {
  createKeyFile,
  findSecretKeys,
  keyFile,
  parseRing,
  type SecretKeyRing,
} from "#platform/secrets/key-ring.ts";
import { openWithPassphrase } from "#platform/secrets/passphrase-box.ts";
import { createSecrets } from "#platform/secrets/secrets.ts";
import { keyNames } from "./progress.ts";
import { readPassphrase } from "./read-passphrase.ts";

export interface RestoredKeys {
  /** Fingerprints of needed keys that this machine will not have. */
  readonly missing: readonly string[];
  /** The file that `write` creates; null if none is written. */
  readonly file: string | null;
  write(): void;
  /** Removes the file that `write` has created. */
  undo(): void;
}

/**
 * Reads the keys of the backup, if this machine needs them.
 * @throws Error if this machine has other keys, or the passphrase is wrong
 */
export async function planKeys(
  options: CliOptions,
  header: BackupHeader,
  passphraseFile: string | undefined,
): Promise<RestoredKeys> {
  const { SECRET_KEY, DATA_DIR } = readConfig(options.environment);
  const own = findSecretKeys(SECRET_KEY, DATA_DIR);
  const missing = missingOf(header, own);
  if (missing.length === 0 || header.key_ring === null) return { missing, file: null, write() {}, undo() {} };
  const file = keyFile(DATA_DIR);
  if (own !== undefined) {
    const place = SECRET_KEY === null ? file : "SECRET_KEY";
    throw new Error(
      `${place} has other keys than the backup, which needs ${keyNames(missing)}: take it away, and the restore writes the right ones. Nothing was changed`,
    );
  }
  const passphrase = await readPassphrase(options, { file: passphraseFile, isNew: false });
  const ring = parseRing(await openWithPassphrase(header.key_ring, passphrase));
  return new NewKeyFile(DATA_DIR, ring, missingOf(header, ring));
}

class NewKeyFile implements RestoredKeys {
  readonly missing: readonly string[];
  readonly file: string;
  readonly #dataDir: string;
  readonly #ring: SecretKeyRing;
  #isWritten = false;

  constructor(dataDir: string, ring: SecretKeyRing, missing: readonly string[]) {
    this.missing = missing;
    this.file = keyFile(dataDir);
    this.#dataDir = dataDir;
    this.#ring = ring;
  }

  /** @throws EEXIST if another process has created one meanwhile */
  write(): void {
    createKeyFile(this.#dataDir, this.#ring);
    this.#isWritten = true;
  }

  undo(): void {
    if (this.#isWritten) rmSync(this.file, { force: true });
  }
}

function missingOf(header: BackupHeader, ring: SecretKeyRing | undefined): string[] {
  const own = ring === undefined ? [] : createSecrets(...ring).fingerprints.map((one) => one.toString("hex"));
  return header.key_fingerprints.filter((one) => !own.includes(one));
}

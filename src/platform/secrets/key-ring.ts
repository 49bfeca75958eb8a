/**
 * Loads the secret keys of this machine from SECRET_KEY, or from the file `secret.key` in DATA_DIR, which the first start
 * creates. Both contain a ring: one or more keys separated by commas (in the file also by line ends). The first key encrypts
 * and signs, all keys decrypt and verify.
 */
import { randomBytes } from "node:crypto";
import {
  closeSync,
  existsSync,
  fsyncSync,
  linkSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { makeDataDir } from "#platform/process/make-data-dir.ts";

/** The keys of a machine, in order. */
export type SecretKeyRing = readonly [string, ...string[]];

/** Limited because a verification may try all keys. */
export const MOST_KEYS = 5;
const LEAST_CHARACTERS = 32;

/**
 * Parses the keys of a ring, without duplicates. A comma within a key is written `\\,`; a text with a part that is too short
 * for a key is read as one key with a comma.
 *
 * @throws Error whose message continues after a name: "must be …"
 */
export function parseRing(text: string): SecretKeyRing {
  const parts = text.split(/(?<!\\),|[\r\n]+/).map((part) => part.trim());
  const isWhole = !/[\r\n]/.test(text) && parts.some((part) => part.length < LEAST_CHARACTERS);
  const keys = (isWhole ? [text] : parts).map((part) => part.replaceAll("\\,", ","));
  const [first = "", ...others] = new Set(keys.filter((key) => key !== ""));
  const ring = [first, ...others] as const;
  if (ring.some((key) => key.length < LEAST_CHARACTERS)) {
    throw new Error(`must be at least ${LEAST_CHARACTERS} characters, as must each of several keys`);
  }
  if (ring.length > MOST_KEYS) throw new Error(`must have ${MOST_KEYS} keys at most`);
  return ring;
}

/** The inverse of `parseRing`. */
export function formatRing(ring: SecretKeyRing, separator: "," | "\n" = ","): string {
  return ring.map((key) => key.replaceAll(",", "\\,")).join(separator);
}

/** SECRET_KEY, or the ring in DATA_DIR, which is created at first start and readable by its owner only. */
export function loadSecretKeys(configured: SecretKeyRing | null, dataDir: string): SecretKeyRing {
  const known = findSecretKeys(configured, dataDir);
  if (known !== undefined) return known;
  try {
    createKeyFile(dataDir, [newSecretKey()]);
  } catch (fault) {
    // Another process has created it.
    if ((fault as NodeJS.ErrnoException).code !== "EEXIST") throw fault;
  }
  return readKeyFile(keyFile(dataDir));
}

/** Creates DATA_DIR, if need be, and the file of its ring. @throws EEXIST if there is a ring, which stays as it is */
export function createKeyFile(dataDir: string, ring: SecretKeyRing): void {
  makeDataDir(dataDir);
  // Unlike a rename, a link replaces no file.
  writeNamed(dataDir, ring, linkSync);
}

/** Like `loadSecretKeys`, but creates nothing; undefined if there is no ring yet. */
export function findSecretKeys(configured: SecretKeyRing | null, dataDir: string): SecretKeyRing | undefined {
  if (configured !== null) return configured;
  const file = keyFile(dataDir);
  return existsSync(file) ? readKeyFile(file) : undefined;
}

/** Replaces the ring in DATA_DIR atomically: after a crash, the file has either the old or the new ring. */
export function writeKeyFile(dataDir: string, ring: SecretKeyRing): void {
  writeNamed(dataDir, ring, renameSync);
}

/** @param giveName gives the complete file, which is on the disk, its name */
function writeNamed(
  dataDir: string,
  ring: SecretKeyRing,
  giveName: (temporary: string, file: string) => void,
): void {
  const file = keyFile(dataDir);
  const temporary = `${file}.${process.pid}`;
  try {
    writeDurably(temporary, ring);
    giveName(temporary, file);
  } finally {
    rmSync(temporary, { force: true });
  }
  const folder = openSync(dataDir, "r");
  fsyncSync(folder);
  closeSync(folder);
}

export function newSecretKey(): string {
  return randomBytes(32).toString("base64url");
}

export function keyFile(dataDir: string): string {
  return join(dataDir, "secret.key");
}

function writeDurably(file: string, ring: SecretKeyRing): void {
  rmSync(file, { force: true });
  const descriptor = openSync(file, "wx", 0o600);
  try {
    writeFileSync(descriptor, `${formatRing(ring, "\n")}\n`);
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

function readKeyFile(file: string): SecretKeyRing {
  try {
    return parseRing(readFileSync(file, "utf8").trim());
  } catch (cause) {
    throw new Error(`${file} ${(cause as Error).message}`, { cause });
  }
}

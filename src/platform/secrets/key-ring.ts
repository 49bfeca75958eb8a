/**
 * Where the secret keys of this machine come from: SECRET_KEY, or the file `secret.key` in DATA_DIR, which the first
 * start makes. Both hold a ring: keys with commas (in the file also line ends) between them. The first seals and signs,
 * all open and verify.
 */
import { randomBytes } from "node:crypto";
import {
  closeSync,
  existsSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";

/** The keys of a machine, in order. */
export type SecretKeyRing = readonly [string, ...string[]];

/** What is verified is tried with all of them. */
export const MOST_KEYS = 5;
const LEAST_CHARACTERS = 32;

/**
 * The keys in a text, each once. A comma that belongs to a key is written `\\,`; and a text that would have a part too
 * short for a key is one key with a comma in it.
 *
 * @throws an Error that says what a ring has to be, without its name in front
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

/** The text that `parseRing` reads as these keys. */
export function formatRing(ring: SecretKeyRing, separator: "," | "\n" = ","): string {
  return ring.map((key) => key.replaceAll(",", "\\,")).join(separator);
}

/** The operator's SECRET_KEY, or the ring kept in DATA_DIR, made at first start and readable by its owner only. */
export function loadSecretKeys(configured: SecretKeyRing | null, dataDir: string): SecretKeyRing {
  const known = findSecretKeys(configured, dataDir);
  if (known !== undefined) return known;
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  const file = keyFile(dataDir);
  const temporary = `${file}.${process.pid}`;
  try {
    writeDurably(temporary, [newSecretKey()]);
    // Unlike a rename it fails where another process was first.
    linkSync(temporary, file);
  } catch (fault) {
    if ((fault as NodeJS.ErrnoException).code !== "EEXIST") throw fault;
  } finally {
    rmSync(temporary, { force: true });
  }
  return readKeyFile(file);
}

/** Undefined where there is none yet. */
export function findSecretKeys(configured: SecretKeyRing | null, dataDir: string): SecretKeyRing | undefined {
  if (configured !== null) return configured;
  const file = keyFile(dataDir);
  return existsSync(file) ? readKeyFile(file) : undefined;
}

/** Replaces the ring kept in DATA_DIR: after a crash the file holds the ring before or this one, whole. */
export function writeKeyFile(dataDir: string, ring: SecretKeyRing): void {
  const file = keyFile(dataDir);
  const temporary = `${file}.${process.pid}`;
  try {
    writeDurably(temporary, ring);
    renameSync(temporary, file);
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

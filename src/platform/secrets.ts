/**
 * Everything derived from SECRET_KEY. One key of the operator, one derived key per purpose (HKDF, RFC 5869), so
 * that a leak of one purpose's key says nothing about another's.
 */
import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from "node:crypto";
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const NONCE_BYTES = 12;
const TAG_BYTES = 16;

export interface Secrets {
  /** By which SECRET_KEY is known again, and which says nothing about it. */
  readonly fingerprint: Buffer;
  /** 32 bytes for one purpose, always the same for the same SECRET_KEY. */
  derive(purpose: string): Buffer;
  /** AES-256-GCM; the context (say "dkim:<id>") is authenticated, so a value cannot be moved to another row. */
  seal(plain: string, context: string): Buffer;
  /** Throws when the key, the context or a byte differs. */
  open(sealed: Buffer, context: string): string;
}

export function createSecrets(secretKey: string): Secrets {
  const derive = (purpose: string) => Buffer.from(hkdfSync("sha256", secretKey, "posthaste", purpose, 32));
  const atRest = derive("encryption at rest");
  return {
    fingerprint: derive("fingerprint"),
    derive,
    seal(plain, context) {
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv("aes-256-gcm", atRest, nonce).setAAD(Buffer.from(context));
      return Buffer.concat([nonce, cipher.update(plain, "utf8"), cipher.final(), cipher.getAuthTag()]);
    },
    open(sealed, context) {
      const decipher = createDecipheriv("aes-256-gcm", atRest, sealed.subarray(0, NONCE_BYTES))
        .setAAD(Buffer.from(context))
        .setAuthTag(sealed.subarray(-TAG_BYTES));
      const plain = decipher.update(sealed.subarray(NONCE_BYTES, -TAG_BYTES));
      return Buffer.concat([plain, decipher.final()]).toString("utf8");
    },
  };
}

/** The operator's SECRET_KEY, or the one kept in DATA_DIR, made at first start and readable by its owner only. */
export function loadSecretKey(configured: string | null, dataDir: string): string {
  const known = findSecretKey(configured, dataDir);
  if (known !== undefined) return known;
  const file = keyFile(dataDir);
  mkdirSync(dataDir, { recursive: true });
  writeFileSync(file, `${randomBytes(32).toString("base64url")}\n`, { mode: 0o600, flag: "wx" });
  chmodSync(file, 0o600);
  return readFileSync(file, "utf8").trim();
}

/** Undefined where there is none yet. */
export function findSecretKey(configured: string | null, dataDir: string): string | undefined {
  if (configured !== null) return configured;
  const file = keyFile(dataDir);
  return existsSync(file) ? readFileSync(file, "utf8").trim() : undefined;
}

function keyFile(dataDir: string): string {
  return join(dataDir, "secret.key");
}

/**
 * Encryption and signing keys, derived from the secret keys of the installation: one for each purpose and secret key
 * (HKDF, RFC
 * 5869), so that a leaked key of one purpose does not compromise others. The first secret key encrypts ("seals") and signs;
 * all decrypt ("open") and verify, so that values of an earlier key stay valid while it is in the ring.
 */
import {
  createCipheriv,
  createDecipheriv,
  createSecretKey,
  hkdfSync,
  type KeyObject,
  randomBytes,
} from "node:crypto";

const NONCE_BYTES = 12;
const TAG_BYTES = 16;
/** Hexadecimal digits of a fingerprint for operators. */
const SHORT_DIGITS = 12;

/**
 * The keys of one purpose, one for each secret key of the ring. (KeyObjects, because an HMAC with a Buffer takes five
 * times as long.)
 */
export class PurposeKeys {
  /** Derived from the first secret key. */
  readonly signing: KeyObject;
  readonly #earlier: readonly KeyObject[];

  constructor(signing: KeyObject, earlier: readonly KeyObject[]) {
    this.signing = signing;
    this.#earlier = earlier;
  }

  /** The first result of `read` with one of the keys that is not null; null if there is none. */
  read<Result>(read: (key: KeyObject) => Result | null): Result | null {
    const result = read(this.signing);
    if (result !== null) return result;
    for (const key of this.#earlier) {
      const found = read(key);
      if (found !== null) return found;
    }
    return null;
  }
}

export interface Secrets {
  /** Fingerprints of the secret keys, in the order of the ring. They reveal nothing about the keys. */
  readonly fingerprints: readonly [Buffer, ...Buffer[]];
  /** Keys of 32 octets; the same secret keys give the same keys. */
  derive(purpose: string): PurposeKeys;
  /**
   * Encrypts with AES-256-GCM. The context, such as "dkim:<id>", is authenticated, so a value cannot be moved to
   * another row.
   */
  seal(plain: string, context: string): Buffer;
  /** Decrypts. @throws Error if the context or a byte differs, or no key of the ring has encrypted it */
  open(sealed: Buffer, context: string): string;
  /** Like `open`, with the position in the ring of the key that encrypted it; null where `open` throws. */
  openWith(sealed: Buffer, context: string): { readonly plain: string; readonly position: number } | null;
}

/** @param secretKeys the ring, at least one key */
export function createSecrets(...secretKeys: readonly [string, ...string[]]): Secrets {
  const [first, ...others] = secretKeys;
  const ofFirst = (purpose: string) => derived(first, purpose);
  const sealing = ofFirst("encryption at rest");
  const opening = [sealing, ...others.map((key) => derived(key, "encryption at rest"))];
  const openWith: Secrets["openWith"] = (sealed, context) => {
    for (const [position, key] of opening.entries()) {
      const plain = decrypted(sealed, context, key);
      if (plain !== null) return { plain, position };
    }
    return null;
  };
  return {
    fingerprints: [ofFirst("fingerprint"), ...others.map((key) => derived(key, "fingerprint"))],
    derive: (purpose) =>
      new PurposeKeys(
        createSecretKey(ofFirst(purpose)),
        others.map((key) => createSecretKey(derived(key, purpose))),
      ),
    seal(plain, context) {
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv("aes-256-gcm", sealing, nonce).setAAD(Buffer.from(context));
      return Buffer.concat([nonce, cipher.update(plain, "utf8"), cipher.final(), cipher.getAuthTag()]);
    },
    open(sealed, context) {
      const opened = openWith(sealed, context);
      if (opened === null) throw new Error("no secret key of this machine decrypts the value");
      return opened.plain;
    },
    openWith,
  };
}

/** The short form of a fingerprint for operators. */
export function shortFingerprint(fingerprint: Buffer): string {
  return fingerprint.toString("hex").slice(0, SHORT_DIGITS);
}

function derived(secretKey: string, purpose: string): Buffer {
  return Buffer.from(hkdfSync("sha256", secretKey, "posthaste", purpose, 32));
}

function decrypted(sealed: Buffer, context: string, key: Buffer): string | null {
  if (sealed.length < NONCE_BYTES + TAG_BYTES) return null;
  try {
    const decipher = createDecipheriv("aes-256-gcm", key, sealed.subarray(0, NONCE_BYTES))
      .setAAD(Buffer.from(context))
      .setAuthTag(sealed.subarray(-TAG_BYTES));
    const plain = decipher.update(sealed.subarray(NONCE_BYTES, -TAG_BYTES));
    return Buffer.concat([plain, decipher.final()]).toString("utf8");
  } catch {
    return null;
  }
}

/** Encrypts a text with a passphrase: a key by scrypt (RFC 7914), AES-256-GCM. */
import { createCipheriv, createDecipheriv, randomBytes, scrypt } from "node:crypto";

/** 128 MiB of memory and some tenths of a second for each guess. */
const COST = { N: 2 ** 17, r: 8, p: 1 } as const;
/** A file with other costs could take all memory. */
const MOST_MEMORY = 256 * 1024 * 1024;
const KEY_BYTES = 32;
const SALT_BYTES = 16;
const NONCE_BYTES = 12;

/** Octets are in Base64. */
export interface SealedText {
  readonly N: number;
  readonly r: number;
  readonly p: number;
  readonly salt: string;
  readonly nonce: string;
  readonly tag: string;
  readonly content: string;
}

export class WrongPassphrase extends Error {}

export async function sealWithPassphrase(text: string, passphrase: string): Promise<SealedText> {
  const salt = randomBytes(SALT_BYTES);
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv("aes-256-gcm", await deriveKey(passphrase, salt, COST), nonce);
  const content = Buffer.concat([cipher.update(text), cipher.final()]);
  const [saltText, nonceText, tag, contentText] = [salt, nonce, cipher.getAuthTag(), content].map((octets) =>
    octets.toString("base64"),
  ) as [string, string, string, string];
  return { ...COST, salt: saltText, nonce: nonceText, tag, content: contentText };
}

/** @throws WrongPassphrase, also if an octet was changed */
export async function openWithPassphrase(sealed: SealedText, passphrase: string): Promise<string> {
  const octets = (text: string) => Buffer.from(text, "base64");
  try {
    const key = await deriveKey(passphrase, octets(sealed.salt), sealed);
    const decipher = createDecipheriv("aes-256-gcm", key, octets(sealed.nonce), { authTagLength: 16 });
    decipher.setAuthTag(octets(sealed.tag));
    return decipher.update(octets(sealed.content), undefined, "utf8") + decipher.final("utf8");
  } catch {
    throw new WrongPassphrase("the passphrase is wrong");
  }
}

function deriveKey(
  passphrase: string,
  salt: Buffer,
  { N, r, p }: Pick<SealedText, "N" | "r" | "p">,
): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    // The same characters give the same key, however a keyboard composes them.
    scrypt(passphrase.normalize("NFC"), salt, KEY_BYTES, { N, r, p, maxmem: MOST_MEMORY }, (fault, key) =>
      fault === null ? resolve(key) : reject(fault),
    );
  });
}

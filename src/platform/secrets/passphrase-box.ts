/** Encrypts a text with a passphrase: a key by scrypt (RFC 7914), AES-256-GCM. */
import { createCipheriv, createDecipheriv, randomBytes, scrypt } from "node:crypto";

/** 128 MiB of memory and some tenths of a second for each guess. */
const COST = { N: 2 ** 17, r: 8, p: 1 } as const;
/** A file with other costs could take all memory. */
const MOST_MEMORY = 256 * 1024 * 1024;
const KEY_BYTES = 32;
const SALT_BYTES = 16;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

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

type Costs = Pick<SealedText, "N" | "r" | "p">;

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

/** @throws WrongPassphrase, also if an octet was changed; Error if the derivation costs too much, or fails */
export async function openWithPassphrase(sealed: SealedText, passphrase: string): Promise<string> {
  if (!isAffordable(sealed))
    throw new Error("the secret keys in the backup are encrypted with unknown costs");
  const octets = (text: string) => Buffer.from(text, "base64");
  const key = await deriveKey(passphrase, octets(sealed.salt), sealed);
  const decipher = createDecipheriv("aes-256-gcm", key, octets(sealed.nonce), { authTagLength: TAG_BYTES });
  decipher.setAuthTag(octets(sealed.tag));
  const text = decipher.update(octets(sealed.content));
  try {
    return Buffer.concat([text, decipher.final()]).toString("utf8");
  } catch {
    throw new WrongPassphrase("the passphrase is wrong");
  }
}

/** Costs come from a file: they may take four times the time of COST at most, and MOST_MEMORY. */
function isAffordable({ N, r, p }: Costs): boolean {
  const areWhole = [N, r, p].every((one) => Number.isSafeInteger(one) && one > 0);
  return areWhole && 128 * N * r <= MOST_MEMORY / 2 && N * r * p <= 4 * COST.N * COST.r * COST.p;
}

function deriveKey(passphrase: string, salt: Buffer, { N, r, p }: Costs): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    // The same characters give the same key, however a keyboard composes them.
    scrypt(passphrase.normalize("NFC"), salt, KEY_BYTES, { N, r, p, maxmem: MOST_MEMORY }, (fault, key) =>
      fault === null ? resolve(key) : reject(fault),
    );
  });
}

/** The secret of an API key: `efk_` and 40 base62 characters (238 bits), of which only the SHA-256 is stored. */
import { hash, randomInt } from "node:crypto";

const alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const RANDOM_CHARACTERS = 40;
const PREFIX_CHARACTERS = 8;

/** A new secret. `randomInt` is cryptographically secure and without modulo bias. */
export function newSecret(): string {
  const random = Array.from({ length: RANDOM_CHARACTERS }, () => alphabet.charAt(randomInt(alphabet.length)));
  return `efk_${random.join("")}`;
}

/**
 * The hash that is stored and looked up. It needs no salt and no slow hash function, because a secret is one of 2^238
 * values.
 */
export function hashSecret(secret: string): Buffer {
  return hash("sha256", secret, "buffer");
}

/** The part that may be shown, to tell keys apart. */
export function prefixOf(secret: string): string {
  return secret.slice(0, PREFIX_CHARACTERS);
}

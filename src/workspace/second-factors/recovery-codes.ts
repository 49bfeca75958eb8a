/** Recovery codes, for a person who has lost the other factors. Each works once. */
import { hash, randomBytes } from "node:crypto";
import type { Queryable } from "#platform/database/pool.ts";
import { replaceRecoveryCodes, updateRecoveryCodeUsed } from "./store.ts";

const CODES = 10;
/** 80 random bits: no search over all codes ends. */
const CODE_BYTES = 10;
/** Without letters and digits that look alike. */
const ALPHABET = "abcdefghijkmnpqrstuvwxyz23456789";

/** Replaces the codes of the user. @returns ten codes such as `k3fq-9wma-x2dn-7hre`, which are not stored */
export async function newRecoveryCodes(tx: Queryable, userId: string): Promise<string[]> {
  const codes = Array.from({ length: CODES }, newCode);
  await replaceRecoveryCodes(tx, userId, codes.map(hashOf));
  return codes;
}

/** Uses a code up. @returns false when it is unknown or was used */
export function takeRecoveryCode(tx: Queryable, userId: string, code: string, now: Date): Promise<boolean> {
  return updateRecoveryCodeUsed(tx, userId, hashOf(code), now);
}

function newCode(): string {
  const bits = [...randomBytes(CODE_BYTES)].map((octet) => octet.toString(2).padStart(8, "0")).join("");
  const letters = (bits.match(/.{5}/g) ?? []).map((five) => ALPHABET[Number.parseInt(five, 2)]).join("");
  return (letters.match(/.{4}/g) ?? []).join("-");
}

/** Blanks, hyphens and case do not matter. */
function hashOf(code: string): Buffer {
  return hash("sha256", code.toLowerCase().replaceAll(/[^a-z0-9]/g, ""), "buffer");
}

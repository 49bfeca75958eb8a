/**
 * Tokens in links: some octets under a keyed MAC.
 *
 *     base64url( content | HMAC-SHA256 of context and content, cut to `macOctets` )
 *
 * The octets of a token are a multiple of three: they fill the base64 to the last bit, so a token has exactly one spelling.
 */
import { createHmac, type KeyObject, timingSafeEqual } from "node:crypto";

export interface TokenFormat {
  readonly contentOctets: number;
  readonly macOctets: number;
}

/** @param context what the token is bound to but does not contain */
export function signToken(
  { macOctets }: TokenFormat,
  content: Buffer,
  key: KeyObject,
  context: Buffer = Buffer.alloc(0),
): string {
  return Buffer.concat([content, mac(context, content, key, macOctets)]).toString("base64url");
}

/** The content of a token; null when it was not signed with this key and context. */
export function readSignedToken(
  { contentOctets, macOctets }: TokenFormat,
  token: string,
  key: KeyObject,
  context: Buffer = Buffer.alloc(0),
): Buffer | null {
  if (token.length !== ((contentOctets + macOctets) * 4) / 3 || !/^[\w-]+$/.test(token)) return null;
  const octets = Buffer.from(token, "base64url");
  const content = octets.subarray(0, contentOctets);
  const isSigned = timingSafeEqual(octets.subarray(contentOctets), mac(context, content, key, macOctets));
  return isSigned ? content : null;
}

function mac(context: Buffer, content: Buffer, key: KeyObject, macOctets: number): Buffer {
  return createHmac("sha256", key).update(context).update(content).digest().subarray(0, macOctets);
}

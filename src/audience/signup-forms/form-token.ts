/**
 * The token in a sign-up form as it was served: which form, and when. A program that posts to a form's address has to
 * load the form first, wait as a reader would, and do so again for every few addresses.
 *
 *     base64url( milliseconds since 1970 6 | random 8 | HMAC-SHA256 over these and the form, cut to 16 )   = 40 characters
 */
import { createHmac, type KeyObject, randomBytes, timingSafeEqual } from "node:crypto";
import { octetsOfIds } from "#platform/ids.ts";
import type { PurposeKeys } from "#platform/secrets/secrets.ts";
import type { SignupLink } from "./link-token.ts";

/** Sooner after it was served, no person has filled in a form. */
export const EARLIEST_MS = 2_000;
const LATEST_MS = 12 * 3_600_000;

const TOKEN = /^[\w-]{40}$/;
const MAC_AT = 14;
const MAC_OCTETS = 16;
const TIME_OCTETS = 6;

export type FormToken =
  /** `page` names the served page, for counting what is sent from it. */
  { readonly state: "good" | "early"; readonly page: string } | { readonly state: "unknown" };

export function signFormToken(form: SignupLink, key: KeyObject, now: Date): string {
  const content = randomBytes(MAC_AT);
  content.writeUIntBE(now.getTime(), 0, TIME_OCTETS);
  return Buffer.concat([content, mac(form, content, key)]).toString("base64url");
}

/** Unknown is what was signed for another form, too long ago, or not by us. */
export function readFormToken(token: string, form: SignupLink, keys: PurposeKeys, now: Date): FormToken {
  if (!TOKEN.test(token)) return { state: "unknown" };
  const octets = Buffer.from(token, "base64url");
  const content = octets.subarray(0, MAC_AT);
  const isSigned = (key: KeyObject) =>
    timingSafeEqual(octets.subarray(MAC_AT), mac(form, content, key)) || null;
  if (keys.read(isSigned) === null) return { state: "unknown" };
  const age = now.getTime() - content.readUIntBE(0, TIME_OCTETS);
  if (age > LATEST_MS) return { state: "unknown" };
  return { state: age < EARLIEST_MS ? "early" : "good", page: content.toString("base64url") };
}

function mac({ workspaceId, id }: SignupLink, content: Buffer, key: KeyObject): Buffer {
  const octets = Buffer.concat([octetsOfIds(workspaceId, id), content]);
  return createHmac("sha256", key).update(octets).digest().subarray(0, MAC_OCTETS);
}

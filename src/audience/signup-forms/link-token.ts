/**
 * The tokens in the addresses of sign-up forms and of confirmation links: whose, and which form or request, under a keyed
 * MAC. Each kind has a key of its own, so that a token for one is none for the other.
 *
 *     base64url( workspace id 16 | list or request id 16 | HMAC-SHA256, cut to 16 )   = 64 characters
 *
 * 48 octets fill their base64 to the last bit, so that a token has exactly one spelling.
 */
import { createHmac, type KeyObject, timingSafeEqual } from "node:crypto";
import { asWorkspaceId, idAt, octetsOfIds, type WorkspaceId } from "#platform/ids.ts";
import type { Secrets } from "#platform/secrets/secrets.ts";

/** A form is named by its list. */
export interface SignupLink {
  readonly workspaceId: WorkspaceId;
  readonly id: string;
}

const TOKEN = /^[\w-]{64}$/;
const UUID_OCTETS = 16;
const MAC_AT = 32;
const MAC_OCTETS = 16;

export function signupKeys(secrets: Secrets) {
  return {
    form: secrets.derive("sign-up forms"),
    page: secrets.derive("sign-up form pages"),
    confirmation: secrets.derive("sign-up confirmations"),
  };
}

export function signSignupLink({ workspaceId, id }: SignupLink, key: KeyObject): string {
  const content = octetsOfIds(workspaceId, id);
  return Buffer.concat([content, mac(content, key)]).toString("base64url");
}

/** The link a token stands for, or null when it was not signed with this key. */
export function readSignupLink(token: string, key: KeyObject): SignupLink | null {
  if (!TOKEN.test(token)) return null;
  const octets = Buffer.from(token, "base64url");
  const content = octets.subarray(0, MAC_AT);
  if (!timingSafeEqual(octets.subarray(MAC_AT), mac(content, key))) return null;
  return { workspaceId: asWorkspaceId(idAt(content, 0)), id: idAt(content, UUID_OCTETS) };
}

function mac(content: Buffer, key: KeyObject): Buffer {
  return createHmac("sha256", key).update(content).digest().subarray(0, MAC_OCTETS);
}

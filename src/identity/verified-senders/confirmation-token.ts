/**
 * The token of a confirmation link: whose sender, which of the links that were sent, until when, under a keyed MAC.
 * Nobody can make one, alter one, or use one for another sender; that only the newest link works, and once, is
 * judged against the row (store.ts).
 *
 *     base64url( workspace id 16 | sender id 16 | link number 4 | expiry 4 | HMAC-SHA256 32 )   = 96 characters
 *
 * 72 octets fill their base64 to the last bit, so that a token has exactly one spelling.
 */
import { createHmac, type KeyObject, timingSafeEqual } from "node:crypto";
import { asWorkspaceId, idAt, octetsOfIds, type WorkspaceId } from "#platform/ids.ts";
import type { PurposeKeys, Secrets } from "#platform/secrets/secrets.ts";

export interface SenderLink {
  readonly workspaceId: WorkspaceId;
  readonly senderId: string;
  /** Counts the links of one sender from 1. */
  readonly number: number;
  /** To the second. */
  readonly expiresAt: Date;
}

const TOKEN = /^[\w-]{96}$/;
const UUID_OCTETS = 16;
const NUMBER_AT = 32;
const EXPIRY_AT = 36;
const MAC_AT = 40;

/** The keys that sign these links and nothing else. */
export function senderLinkKeys(secrets: Secrets): PurposeKeys {
  return secrets.derive("verified sender links");
}

export function signSenderLink(link: SenderLink, key: KeyObject): string {
  const content = Buffer.alloc(MAC_AT);
  octetsOfIds(link.workspaceId, link.senderId).copy(content);
  content.writeUInt32BE(link.number, NUMBER_AT);
  content.writeUInt32BE(Math.floor(link.expiresAt.getTime() / 1000), EXPIRY_AT);
  return Buffer.concat([content, mac(content, key)]).toString("base64url");
}

/** The link a token stands for, or null when it was not signed with this key or has expired. */
export function readSenderLink(token: string, key: KeyObject, now: Date): SenderLink | null {
  if (!TOKEN.test(token)) return null;
  const octets = Buffer.from(token, "base64url");
  const content = octets.subarray(0, MAC_AT);
  if (!timingSafeEqual(octets.subarray(MAC_AT), mac(content, key))) return null;
  const expiresAt = new Date(content.readUInt32BE(EXPIRY_AT) * 1000);
  if (expiresAt <= now) return null;
  return {
    workspaceId: asWorkspaceId(idAt(content, 0)),
    senderId: idAt(content, UUID_OCTETS),
    number: content.readUInt32BE(NUMBER_AT),
    expiresAt,
  };
}

function mac(content: Buffer, key: KeyObject): Buffer {
  return createHmac("sha256", key).update(content).digest();
}

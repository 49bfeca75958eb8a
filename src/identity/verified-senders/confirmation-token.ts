/**
 * The token of a confirmation link: the sender, the number of the link, and when it expires, signed
 * (platform/secrets/signed-token.ts). store.ts checks against the sender's row that only the newest link works, and
 * only once.
 *
 *     base64url( workspace id 16 | sender id 16 | link number 4 | expiry 4 | MAC 32 )   = 96 characters
 */
import type { KeyObject } from "node:crypto";
import { asWorkspaceId, idAt, octetsOfIds, type WorkspaceId } from "#platform/ids.ts";
import type { PurposeKeys, Secrets } from "#platform/secrets/secrets.ts";
import { readSignedToken, signToken } from "#platform/secrets/signed-token.ts";

export interface SenderLink {
  readonly workspaceId: WorkspaceId;
  readonly senderId: string;
  /** The number of the link among those of its sender, from 1. */
  readonly number: number;
  /** Whole seconds; the token has no milliseconds. */
  readonly expiresAt: Date;
}

const UUID_OCTETS = 16;
const NUMBER_AT = 32;
const EXPIRY_AT = 36;
const format = { contentOctets: 40, macOctets: 32 };

/** The keys that sign these links and nothing else. */
export function senderLinkKeys(secrets: Secrets): PurposeKeys {
  return secrets.derive("verified sender links");
}

export function signSenderLink(link: SenderLink, key: KeyObject): string {
  const content = Buffer.alloc(format.contentOctets);
  octetsOfIds(link.workspaceId, link.senderId).copy(content);
  content.writeUInt32BE(link.number, NUMBER_AT);
  content.writeUInt32BE(Math.floor(link.expiresAt.getTime() / 1000), EXPIRY_AT);
  return signToken(format, content, key);
}

/** The link of a token; null when it was not signed with this key or has expired. */
export function readSenderLink(token: string, key: KeyObject, now: Date): SenderLink | null {
  const content = readSignedToken(format, token, key);
  if (content === null) return null;
  const expiresAt = new Date(content.readUInt32BE(EXPIRY_AT) * 1000);
  if (expiresAt <= now) return null;
  return {
    workspaceId: asWorkspaceId(idAt(content, 0)),
    senderId: idAt(content, UUID_OCTETS),
    number: content.readUInt32BE(NUMBER_AT),
    expiresAt,
  };
}

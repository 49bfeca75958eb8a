/**
 * The token in the address of a share link: the id of its workspace and 256 random bits, in Base64url. The database has only
 * its hash, and a look-up names the workspace.
 */
import { randomBytes } from "node:crypto";
import { asWorkspaceId, idAt, octetsOfIds, type WorkspaceId } from "#platform/ids.ts";

const RANDOM_OCTETS = 32;
/** 48 octets fill their Base64 to the last bit, so a token has exactly one spelling. */
const TOKEN = /^[\w-]{64}$/;

export function newShareToken(workspaceId: WorkspaceId): string {
  return Buffer.concat([octetsOfIds(workspaceId), randomBytes(RANDOM_OCTETS)]).toString("base64url");
}

/** The workspace that a token names; null for a text that is no token. */
export function workspaceOfToken(token: string): WorkspaceId | null {
  return TOKEN.test(token) ? asWorkspaceId(idAt(Buffer.from(token, "base64url"), 0)) : null;
}

/** The fields that a campaign and an autoresponder have in common, as a caller gives them. */
import { maySendAs } from "#identity/may-send-as.ts";
import { headerTextFault } from "#mail/address.ts";
import { parseOnlyAddress } from "#mail/mailbox.ts";
import type { Queryable } from "#platform/database/pool.ts";
import { type ApiError, invalid } from "#platform/errors.ts";
import type { WorkspaceId } from "#platform/ids.ts";

/** What is wrong with an address that the workspace may not send as, behind its field. */
export const NOT_VERIFIED =
  "is not on a verified sending domain and is no verified sender of this workspace: use an address there, or add and verify the domain (POST /sending-domains) or the address (POST /verified-senders)";

/** @throws ApiError VALIDATION_ERROR unless the workspace may send as this address */
export async function readFromEmail(db: Queryable, workspaceId: WorkspaceId, text: string): Promise<string> {
  const parsed = parseOnlyAddress(text);
  if (!parsed.ok) throw invalid({ field: "from_email", message: `from_email: ${parsed.message}` });
  const right = await maySendAs(db, workspaceId, parsed.address);
  if (!right.allowed) throw refuse("from_email", NOT_VERIFIED);
  return parsed.address;
}

/**
 * Copies of bounces are mail from the service's own sender, so they go only to an address that the workspace may send as.
 * @throws ApiError VALIDATION_ERROR
 */
export async function readBounceEmail(
  db: Queryable,
  workspaceId: WorkspaceId,
  text: string | null | undefined,
): Promise<string | null> {
  const address = readEmail("bounce_email", text);
  if (address !== null && !(await maySendAs(db, workspaceId, address)).allowed) {
    throw refuse("bounce_email", NOT_VERIFIED);
  }
  return address;
}

/** @throws ApiError VALIDATION_ERROR */
export function readSubject(text: string, field = "subject"): string {
  const fault = headerTextFault(text);
  if (fault !== null) throw invalid({ field, message: `${field}: ${fault}` });
  if (text.trim() === "") throw refuse(field, "must not be blank");
  return text;
}

/** Blank is none. */
export function readContent(text: string | null | undefined): string | null {
  return text == null || text.trim() === "" ? null : text;
}

/** @throws ApiError VALIDATION_ERROR */
export function readEmail(field: string, text: string | null | undefined): string | null {
  if (text == null || text.trim() === "") return null;
  const parsed = parseOnlyAddress(text);
  if (!parsed.ok) throw invalid({ field, message: `${field}: ${parsed.message}` });
  return parsed.address;
}

export function refuse(field: string, message: string): ApiError {
  return invalid({ field, message: `${field} ${message}` });
}

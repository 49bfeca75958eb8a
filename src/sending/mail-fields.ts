/** The request fields that campaigns and autoresponders share: their shapes, and how their values are read and checked. */
import { Type } from "typebox";
import { maySendAs } from "#identity/may-send-as.ts";
import { headerTextFault } from "#mail/address.ts";
import { LONGEST_BODY } from "#mail/html/body-conversion.ts";
import { parseOnlyAddress } from "#mail/mailbox.ts";
import { LONGEST_SUBJECT } from "#mail/message/encode-header.ts";
import type { Queryable } from "#platform/database/pool.ts";
import { type ApiError, invalid } from "#platform/errors.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import { omittable } from "#platform/shapes.ts";
import { LONGEST_NAME } from "#workspace/read-display-name.ts";

export const mailFields = {
  subject: Type.String({ minLength: 1, maxLength: LONGEST_SUBJECT, description: "May hold merge tags." }),
  from_email: Type.String({
    description:
      "An address on a sending domain whose ownership is verified (POST /sending-domains), or a verified sender (POST /verified-senders).",
  }),
  from_name: omittable(Type.String({ maxLength: LONGEST_NAME, description: "Default: the list's." })),
  reply_to: omittable(Type.String({ description: "Default: the list's reply_to_email." })),
  html_content: omittable(
    Type.String({
      maxLength: LONGEST_BODY,
      description: "May hold merge tags. Omitted: made from the text.",
    }),
  ),
  text_content: omittable(
    Type.String({
      maxLength: LONGEST_BODY,
      description: "Omitted: made from the HTML.",
    }),
  ),
  enable_open_tracking: omittable(Type.Boolean({ description: "Default: the list's setting." })),
  enable_click_tracking: omittable(Type.Boolean({ description: "Default: the list's setting." })),
};

/** The error about an address that the workspace may not send as. It follows the name of the field. */
export const NOT_VERIFIED =
  "is not on a verified sending domain and is no verified sender of this workspace: use an address there, or add and verify the domain (POST /sending-domains) or the address (POST /verified-senders)";

/** @throws ApiError VALIDATION_ERROR unless the workspace may send as this address */
export async function readFromEmail(db: Queryable, workspaceId: WorkspaceId, text: string): Promise<string> {
  const parsed = parseOnlyAddress(text);
  if (!parsed.ok) throw invalid({ field: "from_email", message: `from_email: ${parsed.message}` });
  const right = await maySendAs(db, workspaceId, parsed.address);
  if (!right.allowed) throw fieldError("from_email", NOT_VERIFIED);
  return parsed.address;
}

/**
 * Copies of bounces are sent from the service's own address, so they only go to addresses that the workspace may send as.
 * @throws ApiError VALIDATION_ERROR
 */
export async function readBounceEmail(
  db: Queryable,
  workspaceId: WorkspaceId,
  text: string | null | undefined,
): Promise<string | null> {
  const address = readMailAddress("bounce_email", text);
  if (address !== null && !(await maySendAs(db, workspaceId, address)).allowed) {
    throw fieldError("bounce_email", NOT_VERIFIED);
  }
  return address;
}

/** @throws ApiError VALIDATION_ERROR */
export function readSubject(text: string, field = "subject"): string {
  const fault = headerTextFault(text);
  if (fault !== null) throw invalid({ field, message: `${field}: ${fault}` });
  if (text.trim() === "") throw fieldError(field, "must not be blank");
  return text;
}

/** Null for a blank text. */
export function readBody(text: string | null | undefined): string | null {
  return text == null || text.trim() === "" ? null : text;
}

/** Characters of `design` as JSON: as much as the HTML that an editor makes from it. */
export const LONGEST_DESIGN = LONGEST_BODY;

/** The document of an editor, if it is not too large. @throws ApiError VALIDATION_ERROR */
export function readDesignSize<Design extends object>(design: Design): Design {
  const { length } = JSON.stringify(design);
  if (length <= LONGEST_DESIGN) return design;
  const [most, has] = [LONGEST_DESIGN, length].map((count) => count.toLocaleString("en"));
  throw fieldError("design", `must have at most ${most} characters as JSON, and has ${has}`);
}

/** @throws ApiError VALIDATION_ERROR */
export function readMailAddress(field: string, text: string | null | undefined): string | null {
  if (text == null || text.trim() === "") return null;
  const parsed = parseOnlyAddress(text);
  if (!parsed.ok) throw invalid({ field, message: `${field}: ${parsed.message}` });
  return parsed.address;
}

export function fieldError(field: string, message: string): ApiError {
  return invalid({ field, message: `${field} ${message}` });
}

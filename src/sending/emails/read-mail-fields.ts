/** Reads the fields that POST /emails/send and POST /emails have in common. */
import { comparable, headerTextFault, normalizeAddress } from "#mail/address.ts";
import { textFromHtml } from "#mail/html/body-conversion.ts";
import { parseOnlyAddress } from "#mail/mailbox.ts";
import { invalid } from "#platform/errors.ts";
import type { Caller } from "#platform/http/auth/caller.ts";

const SHORT_HTML = 2_000;

/** The operator's sender, which every workspace may use: as configured, and normalised for comparison. */
export interface PlatformSender {
  readonly address: string;
  readonly comparable: string;
}

/** @param address the sender of messages without from_email; null without one */
export function platformSenderOf(address: string | null): PlatformSender | null {
  return address === null ? null : { address, comparable: normalizeAddress(address) };
}

/**
 * The address in From, and the question whether the workspace may send as it; no question about the platform's.
 * @throws ApiError VALIDATION_ERROR
 */
export function readSender(
  given: string | null | undefined,
  platform: PlatformSender | null,
  { workspaceId, defaultSender }: Caller,
) {
  const named = given ?? defaultSender;
  if (named !== null) {
    const { address, domain } = readBareAddress(named, "from_email");
    if (comparable(address) === platform?.comparable) return { fromEmail: address, sender: null };
    return { fromEmail: address, sender: { workspaceId, address, domain } };
  }
  if (platform === null) {
    const message = "from_email is required: neither the workspace nor the installation has a default sender";
    throw invalid({ field: "from_email", message });
  }
  return { fromEmail: platform.address, sender: null };
}

/** The subject. @throws ApiError VALIDATION_ERROR if it is blank or cannot be a header */
export function readMailSubject(text: string): string {
  const subject = readHeaderText(text, "subject");
  if (subject.trim() === "") throw invalid({ field: "subject", message: "subject must not be blank" });
  return subject;
}

/** Whether the body shows nothing, which is a mistake of the client. Long HTML is not parsed and counts as non-empty. */
export function saysNothing(body: string, isHtml: boolean): boolean {
  if (!isHtml) return !/[^\s\p{Cf}]/u.test(body);
  return body.length < SHORT_HTML && !/<img\s/i.test(body) && !/[^\s\p{Cf}]/u.test(textFromHtml(body));
}

/** An address without a name. @throws ApiError VALIDATION_ERROR */
export function readBareAddress(text: string, field: string) {
  const parsed = parseOnlyAddress(text);
  if (!parsed.ok) throw invalid({ field, message: `${field}: ${parsed.message}` });
  return parsed;
}

/** A text for a header. @throws ApiError VALIDATION_ERROR */
export function readHeaderText(text: string, field: string): string {
  const fault = headerTextFault(text);
  if (fault !== null) throw invalid({ field, message: `${field}: ${fault}` });
  return text;
}

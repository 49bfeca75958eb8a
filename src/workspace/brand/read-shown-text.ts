/** Plain texts and web addresses that recipients see, as a workspace gives them. */
import { headerTextFault } from "#mail/address.ts";
import { holdsMergeTag } from "#mail/merge-tags/template-pieces.ts";
import { invalid } from "#platform/errors.ts";

const LONGEST_HREF = 2_000;

/** A trimmed line; null for a blank one. @throws ApiError VALIDATION_ERROR */
export function readLine(field: string, text: string | null): string | null {
  if (text === null || text.trim() === "") return null;
  const fault = headerTextFault(text.trim());
  if (fault !== null) throw invalid({ field, message: `${field}: ${fault}` });
  // It would not be replaced, so that readers would see the tag.
  if (holdsMergeTag(text)) {
    throw invalid({ field, message: `${field}: merge tags are not replaced here; write plain text` });
  }
  return text.trim();
}

/** Trimmed lines, with line feeds between them; null for a blank text. @throws ApiError VALIDATION_ERROR */
export function readLines(field: string, text: string | null, mostLines: number): string | null {
  if (text === null || text.trim() === "") return null;
  const lines = text.trim().split(/\r\n|\r|\n/);
  if (lines.length > mostLines)
    throw invalid({ field, message: `${field} must have at most ${mostLines} lines` });
  return lines.map((line) => readLine(field, line) ?? "").join("\n");
}

/** An https URL without a user name; null for a blank text. @throws ApiError VALIDATION_ERROR */
export function readHttpsUrl(field: string, text: string | null): string | null {
  if (text === null || text.trim() === "") return null;
  const address = text.trim();
  const refuse = (fault: string) => invalid({ field, message: `${field} ${fault}` });
  // A URL loses line breaks when it is parsed, and could then name another host.
  if (/[\p{Cc}\s]|\{\{|\{%/u.test(address)) throw refuse("must have no blanks, line breaks or merge tags");
  const url = URL.canParse(address) ? new URL(address) : undefined;
  if (url?.protocol !== "https:") throw refuse("must be a web address that begins with https://");
  if (url.username !== "" || url.password !== "") throw refuse("must have no user name and no password");
  if (url.href.length > LONGEST_HREF) {
    throw refuse(`must have at most ${LONGEST_HREF} characters when special ones are percent-encoded`);
  }
  return url.href;
}

/**
 * Reads a campaign's custom header fields: lines `Name: value`, folding allowed (RFC 5322 section 2.2.3). Fields that
 * identify, route or sign a message, or that let recipients unsubscribe, are reserved for the service.
 */
import { headerTextFault } from "#mail/address.ts";
import { holdsMergeTag } from "#mail/merge-tags/template-pieces.ts";
import type { HeaderField } from "#mail/message/encode-header.ts";
import { ApiError, type FieldFault } from "#platform/errors.ts";

const field = "custom_headers";
const mostOctets = 8 * 1024;
export const MOST_FIELDS = 50;
const longestName = 76;
/** RFC 5322 section 2.1.1. */
const longestValue = 998;

const protectedNames: ReadonlySet<string> = new Set(
  (
    "from to cc bcc reply-to sender subject date message-id return-path received received-spf mime-version " +
    "feedback-id authentication-results delivered-to envelope-to"
  ).split(" "),
);
/** Further fields that the service writes in bulk mail, besides List-Unsubscribe. */
const ofBulkMail: ReadonlySet<string> = new Set(["list-id", "precedence", "auto-submitted"]);
const protectedPrefixes = ["arc-", "cfbl-", "content-", "dkim-", "resent-", "x-posthaste-"];
/** What to use instead of a reserved field. */
const advice: Readonly<Record<string, string>> = {
  from: "from_email and from_name say who sends",
  sender: "from_email and from_name say who sends",
  "reply-to": "use reply_to",
  subject: "use subject",
  "return-path": "use sender_email and bounce_email",
};

/**
 * Returns the fields in order, unfolded.
 * @throws ApiError VALIDATION_ERROR that names every invalid line
 */
export function readCustomHeaders(text: string): HeaderField[] {
  if (Buffer.byteLength(text) > mostOctets) throw refusal([about(`must be at most ${mostOctets / 1024} KB`)]);
  const faults: FieldFault[] = [];
  const headers: HeaderField[] = [];
  const seen = new Set<string>();
  for (const { line, content } of unfolded(text)) {
    const header = readHeader(content);
    const name = typeof header === "string" ? "" : header[0].toLowerCase();
    if (typeof header === "string") faults.push(about(`line ${line}: ${header}`));
    else if (seen.has(name)) faults.push(about(`line ${line}: ${header[0]} is given twice`));
    else headers.push(header);
    seen.add(name);
  }
  if (headers.length > MOST_FIELDS) faults.push(about(`may hold at most ${MOST_FIELDS} headers`));
  if (faults.length > 0) throw refusal(faults);
  return headers;
}

/** Each field with its continuation lines, and the number of its first line. */
function unfolded(text: string): { line: number; content: string }[] {
  const fields: { line: number; content: string }[] = [];
  for (const [index, line] of text
    .trimEnd()
    .split(/\r\n|\n/)
    .entries()) {
    const last = fields.at(-1);
    if (last !== undefined && /^[ \t]+\S/.test(line)) last.content += ` ${line.trim()}`;
    else fields.push({ line: index + 1, content: line });
  }
  return text.trim() === "" ? [] : fields;
}

/** A field, or the reason why the line is invalid. */
function readHeader(line: string): HeaderField | string {
  const [, name = "", rest = ""] = /^([^:]*):(.*)$/s.exec(line) ?? [];
  const value = rest.trim();
  if (!line.includes(":")) return "a header is written Name: value, and there is no blank line";
  const known = name.toLowerCase();
  if (ofBulkMail.has(known) || known.startsWith("list-unsubscribe"))
    return `${name} is written by the service`;
  const fault = headerFieldFault(name, value);
  if (fault !== null) return fault;
  return holdsMergeTag(value) ? `${name}: merge tags are not replaced in headers` : [name, value];
}

/** Why a field cannot be given for a mail that is no bulk mail; null if it can. Blanks around the value are ignored. */
export function headerFieldFault(name: string, given: string): string | null {
  const value = given.trim();
  if (!/^[!-9;-~]+$/.test(name)) return "a header's name has letters, digits and hyphens, and no blanks";
  if (name.length > longestName) return `a header's name has at most ${longestName} characters`;
  const known = name.toLowerCase();
  if (protectedNames.has(known) || protectedPrefixes.some((prefix) => known.startsWith(prefix))) {
    return `${name} is written by the service${advice[known] === undefined ? "" : `: ${advice[known]}`}`;
  }
  if (value === "") return `${name} has no value`;
  if (value.length > longestValue) return `${name} must be at most ${longestValue} characters`;
  const fault = headerTextFault(value);
  return fault === null ? null : `${name}: ${fault}`;
}

function about(message: string): FieldFault {
  return { field, message: `${field} ${message}` };
}

function refusal(faults: readonly FieldFault[]): ApiError {
  return new ApiError("VALIDATION_ERROR", faults.map(({ message }) => message).join("; "), {
    details: faults,
  });
}

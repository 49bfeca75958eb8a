/** Reads and checks the attachments of a request. Each error names the index of the attachment. */
import { type Static, Type } from "typebox";
import { attachmentFault } from "#mail/message/compose-message.ts";
import type { StoredAttachment } from "#messages/message/attachment.ts";
import { type ApiError, invalid } from "#platform/errors.ts";
import { omittable } from "#platform/shapes.ts";
import { isExecutableName, isExecutableType } from "./executable-files.ts";

export const MOST_ATTACHMENTS = 100;
/** Decoded. */
export const MOST_ATTACHED_BYTES = 20 * 1024 * 1024;
const LONGEST_NAME = 255;

/** `.` and `..`, also with trailing blanks and dots, which some systems drop. */
const isFolder = /^[\s.]+$/;

export const NewAttachment = Type.Object(
  {
    filename: Type.String({
      minLength: 1,
      maxLength: LONGEST_NAME,
      description: "Name of the file, without folders; programs are refused by their ending.",
    }),
    content: Type.String({ minLength: 1, contentEncoding: "base64", description: "The file in Base64." }),
    content_type: Type.String({ minLength: 1, description: "Media type, such as application/pdf." }),
    disposition: omittable(
      Type.Enum(["attachment", "inline"], {
        default: "attachment",
        description: "Whether it is listed as a file, or shown within the HTML by its `content_id`.",
      }),
    ),
    content_id: omittable(
      Type.String({ description: "For inline images: the HTML refers to it as cid:<content_id>." }),
    ),
  },
  { $id: "Attachment" },
);

/**
 * Returns the attachments as they are stored.
 * @throws ApiError VALIDATION_ERROR naming the attachment and what is wrong with it
 */
export function readAttachments(given: readonly Static<typeof NewAttachment>[]): StoredAttachment[] {
  requireFewFiles(given.length);
  const attachments = given.map((attachment, index) => readAttachment(attachment, `attachments[${index}]`));
  const bytes = attachments.reduce((sum, { content }) => sum + decodedBytes(content), 0);
  if (bytes > MOST_ATTACHED_BYTES)
    throw fault("attachments", "attachments may hold at most 20 MB in all, decoded");
  refuseDoubledIds(attachments);
  return attachments;
}

/** @throws ApiError VALIDATION_ERROR */
export function requireFewFiles(count: number): void {
  if (count > MOST_ATTACHMENTS) {
    throw fault("attachments", `attachments may hold at most ${MOST_ATTACHMENTS} files`);
  }
}

function readAttachment(given: Static<typeof NewAttachment>, at: string): StoredAttachment {
  const { filename, content_type } = given;
  const disposition = given.disposition ?? "attachment";
  const contentId = given.content_id?.replace(/^<(.*)>$/, "$1") ?? null;
  const content = readBase64(given.content, `${at}.content`);
  const problem = attachmentFault({ filename, contentType: content_type, contentId, disposition });
  if (problem !== null) throw fault(at, `${at}: ${problem}`);
  if (/[/\\]/.test(filename)) throw fault(`${at}.filename`, `${at}.filename must be a name without folders`);
  if (isFolder.test(filename)) throw fault(`${at}.filename`, `${at}.filename must be the name of a file`);
  const refuseExecutable = (field: string) =>
    fault(field, `${field} names an executable file, which receivers refuse`);
  if (isExecutableName(filename)) throw refuseExecutable(`${at}.filename`);
  if (isExecutableType(content_type)) throw refuseExecutable(`${at}.content_type`);
  return { filename, content, content_type, disposition, content_id: contentId };
}

/**
 * Missing padding and line breaks are accepted; anything else is refused, because a lenient decoder would send a damaged
 * file. Stored as one line with padding, because GET /campaigns/{id} returns it.
 */
function readBase64(content: string, field: string): string {
  const compact = /\s/.test(content) ? withoutBlanks(content) : content;
  const bare = compact.endsWith("=") ? compact.replace(/={1,2}$/, "") : compact;
  if (bare === "" || bare.length % 4 === 1 || /[^A-Za-z0-9+/]/.test(bare)) {
    const hint = /[-_]/.test(bare) ? " (use + and /, not - and _)" : "";
    const prefix = compact.startsWith("data:") ? " (leave out the data: prefix)" : hint;
    throw fault(field, `${field} must be Base64${prefix}`);
  }
  const isPadded = compact.length % 4 === 0;
  return isPadded ? compact : bare.padEnd(Math.ceil(bare.length / 4) * 4, "=");
}

/**
 * Removes ASCII white space. A regular expression would take seconds for 20 MB with a line break every few characters. Other
 * white space stays, and is then refused as invalid Base64.
 */
function withoutBlanks(content: string): string {
  const octets = Buffer.from(content, "utf8");
  let length = 0;
  for (const octet of octets) {
    const isBlank = octet === 0x20 || (octet >= 0x09 && octet <= 0x0d);
    if (isBlank) continue;
    octets[length] = octet;
    length += 1;
  }
  return octets.toString("utf8", 0, length);
}

/** A stored attachment as campaigns show it, with its size in bytes. */
export function withSize<Attachment extends StoredAttachment>(
  attachment: Attachment,
): Attachment & { readonly size: number } {
  return { ...attachment, size: decodedBytes(attachment.content) };
}

/** @param content Base64 with its padding and nothing else */
function decodedBytes(content: string): number {
  const padding = /={0,2}$/.exec(content.slice(-2))?.[0].length ?? 0;
  return (content.length / 4) * 3 - padding;
}

function refuseDoubledIds(attachments: readonly StoredAttachment[]): void {
  const seen = new Set<string>();
  for (const [index, { content_id: id }] of attachments.entries()) {
    if (id === null) continue;
    const field = `attachments[${index}].content_id`;
    if (seen.has(id)) throw fault(field, `${field} ${id} is used twice`);
    seen.add(id);
  }
}

function fault(field: string, message: string): ApiError {
  return invalid({ field, message });
}

/** Attachments of a request: checked whole before anything is stored, each fault with the index it is at. */
import { type Static, Type } from "typebox";
import { headerTextFault } from "../../mail/address.ts";
import type { StoredAttachment } from "../../messages/store.ts";
import { invalid } from "../../platform/errors.ts";

const MOST_ATTACHMENTS = 100;
const MOST_BYTES = 20 * 1024 * 1024;
const LONGEST_NAME = 255;

/** What mail systems refuse anyway, and what carries most mail worms. */
const executable =
  /\.(ade|adp|apk|bat|chm|cmd|com|cpl|dll|exe|hta|ins|isp|jar|js|jse|lib|lnk|mde|msc|msi|msp|mst|pif|ps1|reg|scr|sct|shb|sys|vb|vbe|vbs|vxd|wsc|wsf|wsh)[\s.]*$/i;
const mediaType = /^[\w!#$&^.+-]+\/[\w!#$&^.+-]+(;\s*[\w-]+=("[^"]*"|[\w!#$&^.+-]+)\s*)*$/;
const contentId = /^[\x21-\x3b\x3d\x3f-\x7e]{1,200}$/;

export const Attachment = Type.Object(
  {
    filename: Type.String({ minLength: 1 }),
    content: Type.String({ minLength: 1, contentEncoding: "base64", description: "The file in Base64." }),
    content_type: Type.String({ minLength: 1, description: "Media type, such as application/pdf." }),
    disposition: Type.Optional(Type.Enum(["attachment", "inline"], { default: "attachment" })),
    content_id: Type.Optional(
      Type.String({ description: "For inline images: the HTML refers to it as cid:<content_id>." }),
    ),
  },
  { $id: "Attachment" },
);

/**
 * Gives the attachments in the form they are stored in.
 * @throws ApiError VALIDATION_ERROR naming the attachment and what is wrong with it
 */
export function readAttachments(given: readonly Static<typeof Attachment>[]): StoredAttachment[] {
  if (given.length > MOST_ATTACHMENTS) {
    throw fault("attachments", `attachments may hold at most ${MOST_ATTACHMENTS} files`);
  }
  const seen = new Set<string>();
  let bytes = 0;
  return given.map((attachment, index) => {
    const at = `attachments[${index}]`;
    refuseName(attachment.filename, `${at}.filename`);
    if (!mediaType.test(attachment.content_type)) {
      throw fault(`${at}.content_type`, `${at}.content_type must be a media type such as application/pdf`);
    }
    const content = readBase64(attachment.content, `${at}.content`);
    bytes += decodedLength(content);
    if (bytes > MOST_BYTES)
      throw fault(`${at}.content`, "attachments may hold at most 20 MB in all, decoded");
    const id = attachment.content_id?.replace(/^<(.*)>$/, "$1");
    if (id !== undefined) {
      if (!contentId.test(id))
        throw fault(`${at}.content_id`, `${at}.content_id must be printable ASCII without spaces`);
      if (seen.has(id)) throw fault(`${at}.content_id`, `${at}.content_id ${id} is used twice`);
      seen.add(id);
    }
    return {
      filename: attachment.filename,
      content,
      content_type: attachment.content_type,
      disposition: attachment.disposition ?? "attachment",
      content_id: id ?? null,
    };
  });
}

function refuseName(filename: string, field: string): void {
  const text = headerTextFault(filename);
  if (text !== null) throw fault(field, `${field}: ${text}`);
  if (filename.length > LONGEST_NAME)
    throw fault(field, `${field} must be at most ${LONGEST_NAME} characters`);
  if (/[/\\]/.test(filename)) throw fault(field, `${field} must be a name without folders`);
  if (executable.test(filename))
    throw fault(field, `${field} names an executable file, which receivers refuse`);
}

/** Padding and line breaks are forgiven, anything else is not: a lenient decoder would send a damaged file. */
function readBase64(content: string, field: string): string {
  const compact = /\s/.test(content) ? content.replaceAll(/\s+/g, "") : content;
  const bare = compact.endsWith("=") ? compact.replace(/={1,2}$/, "") : compact;
  if (bare === "" || bare.length % 4 === 1 || /[^A-Za-z0-9+/]/.test(bare)) {
    const hint = compact.startsWith("data:")
      ? " (leave out the data: prefix)"
      : /[-_]/.test(bare)
        ? " (use + and /, not - and _)"
        : "";
    throw fault(field, `${field} must be Base64${hint}`);
  }
  return bare;
}

function decodedLength(base64: string): number {
  return Math.floor((base64.length * 3) / 4);
}

function fault(field: string, message: string) {
  return invalid({ field, message });
}

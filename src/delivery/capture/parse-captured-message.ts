/**
 * Parses a captured message for the local inbox. Its content is not trusted: nothing here throws, and a message that cannot be
 * parsed is shown as source.
 */
import PostalMime, { type Email } from "postal-mime";
import { imagesById, replaceContentIds } from "#mail/message/replace-content-ids.ts";

/** Our own messages have at most four levels of parts; the limit keeps malicious ones cheap. */
const LIMITS = { maxNestingDepth: 50, maxHeadersSize: 1024 * 1024, maxRfc822NestingDepth: 0 };

export interface CapturedAttachment {
  readonly filename: string;
  /** Lower case, without parameters. */
  readonly content_type: string;
  /** Without angle brackets; the HTML refers to it as `cid:<content_id>`. */
  readonly content_id: string | null;
  readonly content: Buffer;
}

export interface CapturedMessage {
  /** In the order of the message, unfolded and otherwise unchanged. */
  readonly headers: readonly { readonly name: string; readonly value: string }[];
  readonly text: string | null;
  readonly html: string | null;
  readonly attachments: readonly CapturedAttachment[];
}

export async function readCaptured(raw: Buffer): Promise<CapturedMessage> {
  try {
    return describe(await PostalMime.parse(raw, LIMITS));
  } catch {
    return { headers: [], text: null, html: null, attachments: [] };
  }
}

function describe({ headers, text, html, attachments }: Email): CapturedMessage {
  return {
    headers: headers.map(({ originalKey, value }) => ({ name: originalKey, value })),
    text: text ?? null,
    html: html ?? null,
    attachments: attachments.map(({ filename, mimeType, contentId, content }) => ({
      filename: filename ?? "unnamed",
      content_type: mimeType,
      content_id: contentId?.replace(/^<|>$/g, "") ?? null,
      content: typeof content === "string" ? Buffer.from(content) : Buffer.from(new Uint8Array(content)),
    })),
  };
}

/** Characters of image data in one page. The limit is for messages that show one image thousands of times. */
const MOST_IMAGE_DATA = 64 * 1024 * 1024;

/**
 * The HTML for a sandboxed frame. Its attached images become data URLs, since the frame may load nothing, and links open in a
 * new tab.
 */
export function htmlForFrame({ html, attachments }: CapturedMessage): string {
  const images = imagesById(
    attachments,
    ({ content_type, content }) => `data:${content_type};base64,${content.toString("base64")}`,
  );
  let room = MOST_IMAGE_DATA;
  const page = (html ?? "").replace(/^\s*(?:<!doctype[^>]*>)?/i, (start) => `${start}<base target="_blank">`);
  return replaceContentIds(page, (id) => {
    const data = images.get(id);
    if (data === undefined || data.length > room) return undefined;
    room -= data.length;
    return data;
  });
}

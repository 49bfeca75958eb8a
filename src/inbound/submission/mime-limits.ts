import { SmtpReply } from "#inbound/listener/smtp-reply.ts";
import { decodeText } from "#mail/bounces/charset.ts";
import { headerValue, partOctets } from "#mail/bounces/lenient-mime.ts";
import { LONGEST_BODY } from "#mail/html/body-conversion.ts";
import { type GivenField, type HeaderLimits, readHeaderSection } from "#mail/message/header-section.ts";
import { readMediaType } from "#mail/message/media-type.ts";
import { limits } from "#platform/limits/limits.ts";

const PART_HEADER: HeaderLimits = { octets: 64 * 1024, fields: 200 };
/** Longer lines are no delimiters (RFC 2046 section 5.1.1 allows boundaries of 70 characters). */
const LONGEST_DELIMITER = 1_000;
const ENCODING = "Content-Transfer-Encoding";
/** Octets of one character, in any charset. */
const MOST_OCTETS = 4;
/** Code points beyond the Basic Multilingual Plane have two units in a string. */
const SURROGATE_PAIR = /[\u{10000}-\u{10FFFF}]/gu;

interface Text {
  readonly fields: readonly GivenField[];
  readonly charset: string | undefined;
  readonly start: number;
}

/**
 * Limits the MIME structure of a submitted message: number of parts, depth of nesting, and the length of texts, as in POST
 * /emails/send. Takes one pass over the body.
 * @param body lines end with CRLF
 * @throws SmtpReply 554 for too many parts or too deep a nesting, 552 for a text that is too long
 */
export function requireMimeLimits(fields: readonly GivenField[], body: Buffer): void {
  new Structure(body).read(fields);
}

class Structure {
  readonly #body: Buffer;
  /** The boundaries of the multiparts that are open at the current position, outermost first. */
  readonly #boundaries: string[] = [];
  /** The text part that is open at the current position. */
  #text: Text | null = null;
  #parts = 0;

  constructor(body: Buffer) {
    this.#body = body;
  }

  read(fields: readonly GivenField[]): void {
    const body = this.#body;
    this.#open(fields, 0);
    let at = body.subarray(0, 2).equals(Buffer.from("--")) ? 0 : this.#nextDelimiter(0);
    // Without an open multipart there are no delimiters to look for.
    while (at >= 0 && this.#boundaries.length > 0) {
      const lineEnd = body.indexOf("\r\n", at);
      const end = lineEnd < 0 ? body.length : lineEnd;
      const next = end - at > LONGEST_DELIMITER ? end : this.#readDelimiter(at, end);
      at = this.#nextDelimiter(next);
    }
    this.#closeText(body.length);
  }

  /** The index of the next line that begins with two hyphens and whose preceding CRLF is at `from` or later; -1: none. */
  #nextDelimiter(from: number): number {
    const found = this.#body.indexOf("\r\n--", from);
    return found < 0 ? -1 : found + 2;
  }

  /** @returns the index from which to look for the next delimiter */
  #readDelimiter(start: number, end: number): number {
    const body = this.#body;
    // A cheap test first, because millions of other lines may begin with two hyphens.
    if (!this.#boundaries.some((boundary) => boundary.charCodeAt(0) === body[start + 2])) return end;
    const line = body.toString("latin1", start + 2, end).trimEnd();
    const opening = this.#boundaries.lastIndexOf(line);
    const closing = line.endsWith("--") ? this.#boundaries.lastIndexOf(line.slice(0, -2)) : -1;
    if (opening < 0 && closing < 0) return end;
    this.#closeText(start);
    if (opening < 0) {
      this.#boundaries.length = closing;
      return end;
    }
    this.#boundaries.length = opening + 1;
    this.#parts += 1;
    if (this.#parts > limits.submittedParts.most) {
      throw new SmtpReply(
        554,
        "5.6.0",
        `The message has more than ${limits.submittedParts.most} MIME parts: send it with fewer`,
      );
    }
    const partStart = Math.min(end + 2, body.length);
    const part = body.subarray(partStart, partStart + PART_HEADER.octets + 4);
    const section = readHeaderSection(part, PART_HEADER);
    // A part whose header cannot be read has no known body, and so no text.
    if (!section.ok) return end;
    this.#open(section.fields, partStart + section.bodyStart);
    // The empty line after the header may be the CRLF before the first delimiter.
    return Math.max(end, partStart + section.bodyStart - 2);
  }

  #open(fields: readonly GivenField[], start: number): void {
    const { type, boundary, charset, name } = readMediaType(fields);
    if (type.startsWith("multipart/") && boundary !== null) {
      if (this.#boundaries.length >= limits.submittedDepth.most) {
        throw new SmtpReply(
          554,
          "5.6.0",
          `The message has multiparts in more than ${limits.submittedDepth.most} levels: send it with fewer`,
        );
      }
      this.#boundaries.push(boundary);
    } else if (type.startsWith("text/") && name === null && !isAttached(fields)) {
      this.#text = { fields, charset: charset ?? undefined, start };
    }
  }

  #closeText(end: number): void {
    const text = this.#text;
    this.#text = null;
    if (text !== null && isTooLong(text, this.#body.subarray(text.start, end))) {
      throw new SmtpReply(
        552,
        "5.3.4",
        `A text of the message has more than ${LONGEST_BODY} characters: send it as an attachment, with a file name`,
      );
    }
  }
}

/** Decodes the text only if its octets do not decide. */
function isTooLong({ fields, charset }: Text, content: Buffer): boolean {
  if (content.length <= LONGEST_BODY) return false;
  const headers = fields.map(({ name, value }) => [name, value.trim()] as const);
  const isPlain = !/^\s*"?(?:base64|quoted-printable)/i.test(headerValue({ headers }, ENCODING) ?? "");
  if (isPlain && content.length > LONGEST_BODY * MOST_OCTETS) return true;
  const octets = isPlain ? content : partOctets({ headers, body: content.toString("latin1") });
  if (octets.length <= LONGEST_BODY) return false;
  const characters = decodeText(octets, charset).replaceAll("\r\n", "\n");
  return characters.length - (characters.match(SURROGATE_PAIR)?.length ?? 0) > LONGEST_BODY;
}

function isAttached(fields: readonly GivenField[]): boolean {
  const disposition = fields.find(({ name }) => name.toLowerCase() === "content-disposition")?.value ?? "";
  return /^\s*attachment\b/i.test(disposition) || /;\s*filename\*?(?:\d+\*?)?\s*=/i.test(disposition);
}

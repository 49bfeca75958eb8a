/**
 * Reads SMTP replies (RFC 5321 section 4.2). The peer is not trusted: all sizes are limited, and unprintable characters
 * are escaped before a reply becomes text.
 */
import { isUtf8 } from "node:buffer";
import type { SmtpAnswer } from "./outcome.ts";

const LONGEST_LINE = 2_048;
const LONGEST_REPLY = 65_536;
const MOST_LINES = 100;
const EXCERPT = 80;
const ENHANCED = /^[245]\.\d{1,3}\.\d{1,3}(?=\s|$)/;

/** One complete reply: the code of its last line, and its lines as raw octets (latin1) without code and line end. */
export interface ServerReply {
  readonly code: number;
  readonly lines: readonly string[];
}

/** The replies that a chunk completed. After a violation the stream must not be read any further. */
export interface ReadResult {
  readonly replies: readonly ServerReply[];
  readonly violation: string | null;
}

/** Assembles replies from chunks with any boundaries. One reader serves one stream. */
export class ReplyReader {
  #unread = "";
  #code = 0;
  #lines: string[] = [];
  #octets = 0;

  /** The lines of a reply whose last line has not come yet; null without any. */
  get unfinished(): ServerReply | null {
    return this.#lines.length === 0 ? null : { code: this.#code, lines: this.#lines };
  }

  /** Takes the next octets; returns the replies that they complete. */
  read(chunk: Buffer): ReadResult {
    const input = this.#unread + chunk.toString("latin1");
    const replies: ServerReply[] = [];
    let start = 0;
    for (let end = input.indexOf("\n"); end >= 0; end = input.indexOf("\n", start)) {
      const line = input.slice(start, input[end - 1] === "\r" && end > start ? end - 1 : end);
      start = end + 1;
      const violation = this.#take(line, replies);
      if (violation !== null) return { replies, violation };
    }
    this.#unread = input.slice(start);
    const violation = this.#unread.length > LONGEST_LINE ? tooLong(this.#unread) : null;
    return { replies, violation };
  }

  #take(line: string, replies: ServerReply[]): string | null {
    if (line.length > LONGEST_LINE) return tooLong(line);
    const form = /^([2-5]\d\d)(?:([ -])(.*))?$/s.exec(line);
    if (form === null) return `not an SMTP reply: "${excerpt(line)}"`;
    const code = Number(form[1]);
    const text = form[3] ?? "";
    // RFC 5321 section 4.2.1 wants one code on all lines. If the codes share a class, the last line's code counts.
    if (this.#lines.length > 0 && Math.trunc(code / 100) !== Math.trunc(this.#code / 100))
      return `a reply with two codes: ${this.#code} and ${code}: "${excerpt([...this.#lines, text].join(" "))}"`;
    this.#code = code;
    this.#lines.push(text);
    this.#octets += line.length;
    if (this.#lines.length > MOST_LINES || this.#octets > LONGEST_REPLY)
      return `a reply without end: ${code}`;
    if (form[2] !== "-") {
      replies.push({ code, lines: this.#lines });
      this.#lines = [];
      this.#octets = 0;
    }
    return null;
  }
}

/** The reply as text that can be stored, shown and classified. */
export function answerOf(reply: ServerReply): SmtpAnswer {
  const codes = reply.lines.flatMap((line) => ENHANCED.exec(line)?.[0] ?? []);
  const agreeing = codes.filter((code) => code.startsWith(String(Math.trunc(reply.code / 100))));
  const enhanced = agreeing.at(-1) ?? codes.at(-1) ?? null;
  const texts = reply.lines.map((line) =>
    printable(ENHANCED.exec(line)?.[0] === enhanced ? line.slice(enhanced?.length ?? 0) : line).trim(),
  );
  return { code: reply.code, enhanced, text: texts.filter((text) => text !== "").join(" ") };
}

/** The answer as a postmaster would quote it: "550 5.1.1 User unknown". */
export function quoteAnswer({ code, enhanced, text }: SmtpAnswer): string {
  return [code, enhanced, text].filter((part) => part !== null && part !== "").join(" ");
}

/** The reply in one line, for logs. */
export function quoteReply(reply: ServerReply): string {
  return excerpt(`${reply.code} ${reply.lines.join(" ")}`);
}

/** Octets (latin1) as text: UTF-8 if valid; controls, format characters and invalid octets are escaped. */
export function printable(octets: string): string {
  if (/^[ -~]*$/.test(octets)) return octets;
  const bytes = Buffer.from(octets, "latin1");
  const text = isUtf8(bytes) ? bytes.toString("utf8") : octets.replace(/[\u0080-\u00ff]/g, escapeCharacter);
  return text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, escapeCharacter);
}

function escapeCharacter(character: string): string {
  const hex = (character.codePointAt(0) ?? 0).toString(16);
  return hex.length <= 2 ? `\\x${hex.padStart(2, "0")}` : `\\u{${hex}}`;
}

function excerpt(octets: string): string {
  return octets.length > EXCERPT ? `${printable(octets.slice(0, EXCERPT))}…` : printable(octets);
}

function tooLong(line: string): string {
  return `a reply line of more than ${LONGEST_LINE} octets: "${excerpt(line)}"`;
}

/**
 * Parses the header section of a message from another program (RFC 5322 section 2.2), strictly: forms that mail
 * software reads in different ways (blanks before the colon, lines of blanks, lines without a colon) are faults.
 * bounces/lenient-mime.ts is the opposite: it reads whatever a bounce contains.
 */
import { isUtf8 } from "node:buffer";

/** A header field of a received message. */
export interface GivenField {
  readonly name: string;
  /** Everything after the colon, unchanged: folded, without the CRLF at its end. */
  readonly value: string;
  /** Offsets of the field in the message, including its CRLF. */
  readonly start: number;
  readonly end: number;
}

/** The parsed fields, or the fault as a sentence. */
export type HeaderSection =
  | { readonly ok: true; readonly fields: readonly GivenField[]; readonly bodyStart: number }
  | { readonly ok: false; readonly fault: string; readonly isTooLarge: boolean };

/** Limits of a header section: its octets and its number of fields. */
export interface HeaderLimits {
  readonly octets: number;
  readonly fields: number;
}

const fieldName = /^[!-9;-~]+$/;
const NO_LIMITS: HeaderLimits = { octets: Number.POSITIVE_INFINITY, fields: Number.POSITIVE_INFINITY };

/**
 * Parses a header section. `message` has CRLF line ends only; without an empty line it is all header.
 * @param most limits for an untrusted message; a message that has been accepted needs none
 */
export function readHeaderSection(message: Buffer, most: HeaderLimits = NO_LIMITS): HeaderSection {
  const blankLine = message.subarray(0, most.octets + 2).indexOf("\r\n\r\n");
  const isBodyOnly = message.subarray(0, 2).equals(Buffer.from("\r\n"));
  const sectionEnd = isBodyOnly ? 0 : blankLine === -1 ? message.length : blankLine + 2;
  if (sectionEnd > most.octets) return tooLarge(most);
  const section = message.subarray(0, sectionEnd);
  if (!isUtf8(section)) return refuse("The header is neither ASCII nor UTF-8.");
  // As latin1, so that positions are those of the octets.
  const text = section.toString("latin1");
  const fields: GivenField[] = [];
  for (let start = 0; start < text.length; ) {
    let lineEnd = text.indexOf("\r\n", start);
    while (lineEnd !== -1 && isBlank(text[lineEnd + 2])) {
      const next = text.indexOf("\r\n", lineEnd + 2);
      if (next !== -1 && text.slice(lineEnd + 2, next).trim() === "") {
        return refuse(`Line ${lineAt(text, next)} of the header contains only blanks.`);
      }
      lineEnd = next;
    }
    if (lineEnd === -1) return refuse("The header ends in the middle of a line.");
    const colon = text.indexOf(":", start);
    const name = text.slice(start, colon);
    if (colon === -1 || colon > lineEnd || !fieldName.test(name)) {
      return refuse(`Line ${lineAt(text, start)} of the header is not a field.`);
    }
    if (fields.length >= most.fields) return tooLarge(most);
    const value = section.toString("utf8", colon + 1, lineEnd);
    fields.push({ name, value, start, end: lineEnd + 2 });
    start = lineEnd + 2;
  }
  return { ok: true, fields, bodyStart: Math.min(sectionEnd + 2, message.length) };
}

/** A folded value as one line (RFC 5322 section 2.2.3), without surrounding blanks. */
export function unfold(value: string): string {
  return value.replaceAll("\r\n", "").replaceAll("\t", " ").trim();
}

function refuse(fault: string): HeaderSection {
  return { ok: false, fault, isTooLarge: false };
}

function tooLarge({ octets, fields }: HeaderLimits): HeaderSection {
  const fault = `The header is larger than ${octets} octets or ${fields} fields.`;
  return { ok: false, fault, isTooLarge: true };
}

function isBlank(character: string | undefined): boolean {
  return character === " " || character === "\t";
}

/** The line number, counted from 1. */
function lineAt(text: string, position: number): number {
  return text.slice(0, position).split("\r\n").length;
}

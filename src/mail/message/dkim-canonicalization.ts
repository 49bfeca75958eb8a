/** The "relaxed" canonicalization of DKIM (RFC 6376 sections 3.4.2 and 3.4.4), the only one that we sign with. */

const lf = 0x0a;
const cr = 0x0d;
const space = 0x20;

/** One field, without the CRLF at its end. Only SP and TAB count as white space. */
export function relaxedHeader(name: string, value: string): string {
  const unfolded = value.replaceAll("\r\n", "");
  const single = /\t| {2}/.test(unfolded) ? unfolded.replace(/[\t ]+/g, " ") : unfolded;
  const start = single.startsWith(" ") ? 1 : 0;
  const end = single.endsWith(" ") ? -1 : single.length;
  return `${name.toLowerCase()}:${single.slice(start, end)}`;
}

/**
 * Canonicalizes a body: drops blanks at line ends, reduces other runs of blanks to one space, drops empty lines at the
 * end, and adds a CRLF at the end unless nothing is left. Only CRLF ends a line; a bare CR or LF is an ordinary octet.
 * Returns the same buffer if it is already in this form.
 */
export function relaxedBody(body: Buffer): Buffer {
  // As latin1: searching a string is twice as fast as searching a buffer or looping over it.
  const text = body.toString("latin1");
  return isRelaxed(text) ? body : relax(text);
}

function isRelaxed(text: string): boolean {
  return (
    text === "" ||
    (text.length > 2 &&
      text.endsWith("\r\n") &&
      !text.endsWith("\r\n\r\n") &&
      !text.includes("\t") &&
      !text.includes("  ") &&
      !hasSpaceAtLineEnd(text))
  );
}

/** Canonicalizes all complete lines; the last one may lack a line break. @param text its line breaks are CRLF */
export function relaxedLines(text: string): string {
  const single = text.replace(/[\t ]{2,}|\t/g, " ");
  return hasSpaceAtLineEnd(single) ? single.replaceAll(" \r\n", "\r\n") : single;
}

/** Canonicalizes a text that is followed by a line break. @param text its line breaks are CRLF */
export function relaxedText(text: string): string {
  const lines = relaxedLines(text);
  return lines.endsWith(" ") ? lines.slice(0, -1) : lines;
}

function relax(text: string): Buffer {
  const relaxed = relaxedText(text);
  let end = relaxed.length;
  while (relaxed.charCodeAt(end - 1) === lf && relaxed.charCodeAt(end - 2) === cr) end -= 2;
  return Buffer.from(end > 0 ? `${relaxed.slice(0, end)}\r\n` : "", "latin1");
}

/** Searches line breaks: searching a space that a line break follows would stop at every word. */
function hasSpaceAtLineEnd(text: string): boolean {
  for (let at = text.indexOf("\r\n"); at >= 0; at = text.indexOf("\r\n", at + 2)) {
    if (text.charCodeAt(at - 1) === space) return true;
  }
  return false;
}

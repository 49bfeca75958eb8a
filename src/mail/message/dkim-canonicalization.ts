/** The "relaxed" canonical forms of DKIM (RFC 6376 sections 3.4.2 and 3.4.4), the only ones that we sign with. */

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
 * A body: blanks at line ends dropped, other runs of blanks reduced to one space, empty lines at the end dropped,
 * and a CRLF at the end unless nothing is left. Only CRLF ends a line; a bare CR or LF is an octet like any other.
 * Returns the buffer itself when it is in this form already.
 */
export function relaxedBody(body: Buffer): Buffer {
  // One character an octet: the engine's own searches in a string beat those in a buffer, and loops over it, twofold.
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

/** Every line of a text in relaxed form, but the one that nothing ends. @param text its line breaks are CRLF */
export function relaxedLines(text: string): string {
  const single = text.replace(/[\t ]{2,}|\t/g, " ");
  return hasSpaceAtLineEnd(single) ? single.replaceAll(" \r\n", "\r\n") : single;
}

/** A whole text in relaxed form, where a line break follows it. @param text its line breaks are CRLF */
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

/** From line break to line break: to look for a space that one follows would stop at every word. */
function hasSpaceAtLineEnd(text: string): boolean {
  for (let at = text.indexOf("\r\n"); at >= 0; at = text.indexOf("\r\n", at + 2)) {
    if (text.charCodeAt(at - 1) === space) return true;
  }
  return false;
}

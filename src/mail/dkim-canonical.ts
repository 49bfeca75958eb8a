/** The "relaxed" canonical forms of DKIM (RFC 6376 sections 3.4.2 and 3.4.4), the only ones that we sign with. */

const tab = 0x09;
const lf = 0x0a;
const cr = 0x0d;
const lineBreak = Buffer.from("\r\n");
const twoBlanks = Buffer.from("  ");
const blankAtLineEnd = Buffer.from(" \r\n");

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
 * Returns the buffer itself when it is in this form already, which four native searches find out.
 */
export function relaxedBody(body: Buffer): Buffer {
  return isRelaxed(body) ? body : relax(body);
}

function isRelaxed(body: Buffer): boolean {
  if (body.length === 0) return true;
  const lastLine = body.subarray(-4);
  return (
    body.length > 2 &&
    lastLine.subarray(-2).equals(lineBreak) &&
    !lastLine.subarray(0, -2).equals(lineBreak) &&
    !body.includes(tab) &&
    !body.includes(twoBlanks) &&
    !body.includes(blankAtLineEnd)
  );
}

/** On a latin1 string, one character an octet: the engine's own searches beat a loop over the buffer twofold. */
function relax(body: Buffer): Buffer {
  const single = body
    .toString("latin1")
    .replace(/[\t ]{2,}|\t/g, " ")
    .replaceAll(" \r\n", "\r\n");
  let end = single.endsWith(" ") ? single.length - 1 : single.length;
  while (single.charCodeAt(end - 1) === lf && single.charCodeAt(end - 2) === cr) end -= 2;
  return Buffer.from(end > 0 ? `${single.slice(0, end)}\r\n` : "", "latin1");
}

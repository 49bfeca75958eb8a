/** Dot-stuffing of message data (RFC 5321 section 4.5.2). */

const DOT = 0x2e;
const CR = 0x0d;
const LF = 0x0a;
const LF_DOT = Buffer.from("\n.");
const CR_DOT = Buffer.from("\r.");
const CRLF = Buffer.from("\r\n");

/** Sent after a stuffed message. */
export const endOfData = ".\r\n";

/**
 * Doubles the dot at the start of a line, and adds a missing CRLF at the end. A message without such lines (nearly
 * every one) is returned without a copy.
 *
 * @param message a complete message with CRLF line ends
 * @throws Error if a dot follows a bare CR or LF: a receiver that takes the break for a line end could see the end of
 * the message there (SMTP smuggling, CVE-2023-51764), and repairing it here would break the DKIM signature
 */
export function dotStuff(message: Buffer): Buffer {
  const lineStarts = dottedLines(message);
  const complete = message.length === 0 || (message.at(-2) === CR && message.at(-1) === LF);
  if (lineStarts.length === 0) return complete ? message : Buffer.concat([message, CRLF]);

  const stuffed = Buffer.allocUnsafe(message.length + lineStarts.length + (complete ? 0 : CRLF.length));
  let copied = 0;
  let written = 0;
  for (const start of lineStarts) {
    written += message.copy(stuffed, written, copied, start);
    stuffed[written++] = DOT;
    copied = start;
  }
  written += message.copy(stuffed, written, copied);
  if (!complete) CRLF.copy(stuffed, written);
  return stuffed;
}

function dottedLines(message: Buffer): number[] {
  if (message.includes(CR_DOT)) throw new Error("a message for SMTP has a bare CR before a dot");
  const starts = message[0] === DOT ? [0] : [];
  for (let at = message.indexOf(LF_DOT); at >= 0; at = message.indexOf(LF_DOT, at + 2)) {
    if (message[at - 1] !== CR) throw new Error("a message for SMTP has a bare LF before a dot");
    starts.push(at + 1);
  }
  return starts;
}

/**
 * Line ends of submitted messages. Only CRLF ends a line (RFC 5321 section 2.3.8); servers disagree about lone CR and
 * LF. A client that sends them means line ends, so each becomes CRLF. This does not affect where the message ends: only
 * CRLF . CRLF ends it.
 */
import { SmtpReply } from "#inbound/listener/smtp-reply.ts";

const LF = 10;
const CR = 13;

/**
 * The message with CRLF line ends, also after the last line. CR CR LF, the result of converting twice, is one line end. Works
 * octet by octet, because a search per line takes far longer for millions of empty lines.
 * @param most the most octets of the result
 * @throws SmtpReply 554 when the message contains a NUL, 552 when it becomes too large
 */
export function withCrlfLines(message: Buffer, most: number): Buffer {
  if (message.includes(0)) throw new SmtpReply(554, "5.6.0", "The message contains a NUL");
  const missing = countMissing(message);
  if (missing === 0) return message;
  if (message.length + missing > most) {
    throw new SmtpReply(552, "5.3.4", `With CRLF line ends the message is larger than ${most} octets`);
  }
  // May be larger than needed, because runs of CR before an LF become shorter.
  const written = Buffer.allocUnsafeSlow(message.length + missing);
  let end = 0;
  for (let at = 0; at < message.length; at++) {
    const octet = message[at] ?? 0;
    if (octet !== CR && octet !== LF) {
      written[end++] = octet;
      continue;
    }
    const start = at;
    while (message[at] === CR) at++;
    // CRs before an LF belong to its line end; without an LF, each CR is a line end.
    const isEndedByLf = message[at] === LF;
    if (!isEndedByLf) at--;
    for (let lines = isEndedByLf ? 1 : at - start + 1; lines > 0; lines--) {
      written[end++] = CR;
      written[end++] = LF;
    }
  }
  if (end > 0 && written[end - 1] !== LF) {
    written[end++] = CR;
    written[end++] = LF;
  }
  return written.subarray(0, end);
}

/** An upper bound of the octets that are added; 0 only when all line ends are CRLF. */
function countMissing(message: Buffer): number {
  let missing = 0;
  for (let at = 0; at < message.length; at++) {
    const octet = message[at];
    if (octet !== CR && octet !== LF) continue;
    if (octet === CR && message[at + 1] === LF) at++;
    else missing++;
  }
  return message.length > 0 && message.at(-1) !== LF && message.at(-1) !== CR ? missing + 2 : missing;
}

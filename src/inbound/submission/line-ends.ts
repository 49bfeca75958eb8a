/**
 * The line ends of a message that a client hands in. CRLF ends a line, and neither half of it stands alone on the way
 * (RFC 5321 section 2.3.8), because other servers see other lines there. A client that writes LF or CR alone means the
 * end of a line, so each becomes CRLF. The end of the message is not decided here: that is CRLF . CRLF and nothing else.
 */
import { SmtpReply } from "#inbound/listener/smtp-reply.ts";

const LF = 10;
const CR = 13;

/**
 * The message with CRLF line ends, the last line's included. CR CR LF, which comes of converting twice, is one line end.
 * Octet by octet, because a search for each of millions of empty lines takes far longer.
 * @param most octets it may have then
 * @throws SmtpReply 554 when it holds a NUL, 552 when it becomes too large
 */
export function withCrlfLines(message: Buffer, most: number): Buffer {
  if (message.includes(0)) throw new SmtpReply(554, "5.6.0", "The message holds a NUL");
  const missing = countMissing(message);
  if (missing === 0) return message;
  if (message.length + missing > most) {
    throw new SmtpReply(552, "5.3.4", `With CRLF line ends the message is larger than ${most} octets`);
  }
  // Runs of CR before an LF become shorter, so that some room stays.
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
    // CRs before an LF belong to its line end; without an LF, each CR is one.
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

/** At least as many octets as the message grows; 0 only when all its line ends are CRLF. */
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

/** The MAIL and RCPT commands of one message, adapted to the extensions that the server offers. */
import { isAscii } from "node:buffer";
import type { Extensions } from "./extensions.ts";
import type { SmtpRejection } from "./outcome.ts";

/** One message for one recipient. */
export interface SmtpTransaction {
  /** The return path; "" is the null sender. */
  readonly mailFrom: string;
  readonly rcptTo: string;
  /** The complete message with CRLF line ends, not dot-stuffed. */
  readonly message: Buffer;
  /** Whether an address or a header field of this message needs SMTPUTF8 (RFC 6531). */
  readonly smtpUtf8: boolean;
}

/** The command lines, each with its CRLF. */
export interface EnvelopeCommands {
  readonly mail: string;
  readonly rcpt: string;
}

/**
 * The local part is a quoted string, or has no blank, quote or angle bracket. Control characters and line separators
 * are not allowed. Such an address cannot end its command, start another one or add a parameter.
 */
const ADDRESS =
  /^(?:"(?:[^"\\\p{Cc}\p{Zl}\p{Zp}]|\\[^\p{Cc}\p{Zl}\p{Zp}])*"|[^\s"<>@\p{Cc}]+)@[^\s"<>@\p{Cc}]+$/u;

/**
 * Composes MAIL and RCPT. Returns a rejection, without asking the server, if the message is larger than its limit (RFC
 * 1870) or internationalized and the server lacks SMTPUTF8 (RFC 6531 section 3.5). A body with 8-bit octets is sent
 * unchanged to a server without 8BITMIME: recoding it here would break the signature, and such servers accept it in
 * practice.
 *
 * @throws Error on an address that cannot be written into a command
 */
export function composeEnvelope(
  transaction: SmtpTransaction,
  offers: Extensions,
): EnvelopeCommands | SmtpRejection {
  const { mailFrom, rcptTo, message, smtpUtf8 } = transaction;
  if (mailFrom !== "") checkAddress(mailFrom, smtpUtf8);
  checkAddress(rcptTo, smtpUtf8);

  if (smtpUtf8 && !offers.smtpUtf8)
    return refusal(553, "5.6.7", "the receiver does not offer SMTPUTF8, which this message needs");
  if (offers.size !== null && offers.size > 0 && message.length > offers.size)
    return refusal(552, "5.3.4", `${message.length} octets are more than the receiver's ${offers.size}`);

  const size = offers.size === null ? "" : ` SIZE=${message.length}`;
  const body = offers.eightBitMime && !isAscii(message) ? " BODY=8BITMIME" : "";
  const utf8 = smtpUtf8 ? " SMTPUTF8" : "";
  return { mail: `MAIL FROM:<${mailFrom}>${size}${body}${utf8}\r\n`, rcpt: `RCPT TO:<${rcptTo}>\r\n` };
}

/** Whether an address can be written into a command. */
export function fitsCommand(address: string): boolean {
  return ADDRESS.test(address);
}

function checkAddress(address: string, smtpUtf8: boolean): void {
  if (!fitsCommand(address)) throw new Error(`not an address for SMTP: ${JSON.stringify(address)}`);
  if (!smtpUtf8 && !/^[ -~]*$/.test(address))
    throw new Error(`not an ASCII address: ${JSON.stringify(address)}`);
}

function refusal(code: number, enhanced: string, text: string): SmtpRejection {
  return { outcome: "refused", stage: "mail", code, enhanced, text };
}

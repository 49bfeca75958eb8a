/**
 * Repairs frequent faults of clients (RFC 6409 section 8): raw UTF-8 in a header without SMTPUTF8, lines beyond 998 octets,
 * 8-bit text without a Content-Type. A message with a DKIM signature is not changed, because that would break the signature:
 * it is refused instead.
 */
import { isAscii, isUtf8 } from "node:buffer";
import { SmtpReply } from "#inbound/listener/smtp-reply.ts";
import { asciiField, foldedField } from "#mail/message/ascii-header.ts";
import { renderHeaders } from "#mail/message/encode-header.ts";
import type { GivenField } from "#mail/message/header-section.ts";
import type { Octets } from "#mail/message/octet-pieces.ts";
import { hasLongLine, longLineFrom, RepairAllowance, repairBody } from "#mail/message/repair-body.ts";
import { maxLineLength } from "#mail/message/transfer-encoding.ts";

/**
 * Octets of one message that may be encoded or folded. Repairing this much blocks the event loop for some tens of
 * milliseconds.
 */
const MOST_REPAIRED = 1024 * 1024;
const LF = 10;

export interface GivenMessage {
  /** Its lines end with CRLF. */
  readonly message: Buffer;
  /** The fields that are kept. */
  readonly fields: readonly GivenField[];
  readonly bodyStart: number;
}

/** @throws SmtpReply 550 for raw UTF-8 that cannot be encoded, 554 for a line that is too long and cannot be repaired */
export function repairMessage(
  given: GivenMessage,
  { isSmtpUtf8 }: { readonly isSmtpUtf8: boolean },
): { readonly header: Octets; readonly body: Octets } {
  const isSigned = given.fields.some(({ name }) => /^dkim-signature$/i.test(name));
  const body = given.message.subarray(given.bodyStart);
  // With SMTPUTF8 a part header may be UTF-8, too.
  const isUnchanged = isSigned || (isSmtpUtf8 && !hasLongLine(body));
  const allowance = new RepairAllowance(MOST_REPAIRED);
  const repaired = isUnchanged ? unchanged(body) : repairBody(given.fields, body, allowance);
  if (repaired === null) throw tooLong(given.message, allowance.isExceeded);
  const isReencoded = (name: string) =>
    repaired.encoding !== null && /^content-transfer-encoding$/i.test(name);
  const header = given.fields.map((field) => {
    if (isReencoded(field.name)) return "";
    const octets = given.message.subarray(field.start, field.end);
    const isUsable = isSmtpUtf8 || isAscii(octets);
    if (isUsable && !hasLongLine(octets)) return octets;
    const value = isSigned ? null : repairedValue(field, isAscii(octets));
    if (value === null) throw isUsable ? tooLong(given.message) : notAscii(field.name);
    return renderHeaders([[field.name, value]]);
  });
  const added = isSigned ? [] : bodyFields(given.fields, body, repaired.encoding);
  return { header: [...header, renderHeaders(added)], body: repaired.octets };
}

function unchanged(body: Buffer): ReturnType<typeof repairBody> {
  return hasLongLine(body) ? null : { octets: [body], encoding: null };
}

function repairedValue({ name, value }: GivenField, isAsciiValue: boolean): string | null {
  return isAsciiValue ? foldedField(name, value) : asciiField(name, value);
}

/** The fields for the new encoding of the body, and for UTF-8 text without content fields. */
function bodyFields(
  fields: readonly GivenField[],
  body: Buffer,
  encoding: string | null,
): (readonly [string, string])[] {
  const hasContentFields = fields.some(({ name }) => /^content-/i.test(name));
  const isBareUtf8 = !hasContentFields && !isAscii(body) && isUtf8(body);
  return [
    ...(isBareUtf8 ? [["Content-Type", "text/plain; charset=utf-8"] as const] : []),
    ...(encoding !== null || isBareUtf8 ? [["Content-Transfer-Encoding", encoding ?? "8bit"] as const] : []),
  ];
}

function notAscii(name: string): SmtpReply {
  return new SmtpReply(
    550,
    "5.6.7",
    `The header is not ASCII, and ${name} cannot be encoded here: encode it (RFC 2047), or use SMTPUTF8 in MAIL`,
  );
}

function tooLong(message: Buffer, isTooMuch = false): SmtpReply {
  const at = longLineFrom(message, 0);
  let line = 1;
  // By index: an iterator takes ten times as long.
  for (let index = 0; index < at; index++) if (message[index] === LF) line++;
  const reason = isTooMuch
    ? `, and repairs would change more than ${MOST_REPAIRED} octets of the message`
    : "";
  return new SmtpReply(
    554,
    "5.6.0",
    `Line ${line} is longer than ${maxLineLength} octets${reason}: send it as quoted-printable or Base64, in lines of at most 76 characters`,
  );
}

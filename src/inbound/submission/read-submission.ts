/**
 * Reads a submitted message before it is accepted: its senders, its subject and the octets to send. Small faults are
 * repaired (RFC 6409 section 8); a message that receivers could interpret in different ways is refused.
 */
import { decodeWords } from "postal-mime";
import { SmtpReply } from "#inbound/listener/smtp-reply.ts";
import type { Address } from "#mail/address.ts";
import { parseMailbox } from "#mail/mailbox.ts";
import { encodeDate, type HeaderField, LONGEST_SUBJECT, renderHeaders } from "#mail/message/encode-header.ts";
import {
  type GivenField,
  type HeaderLimits,
  readHeaderSection,
  unfold,
} from "#mail/message/header-section.ts";
import { joinOctets } from "#mail/message/octet-pieces.ts";
import { withCrlfLines } from "./line-ends.ts";
import { requireMimeLimits } from "./mime-limits.ts";
import { repairMessage } from "./repair-message.ts";

/** Octets, as announced in SIZE; a limit also after line ends are repaired. */
const LARGEST_MESSAGE = 30 * 1024 * 1024;
const LARGEST_HEADER: HeaderLimits = { octets: 100 * 1024, fields: 1_000 };
/** A message with more Received fields is in a mail loop; Postfix has the same limit (hopcount_limit). */
const MOST_RECEIVED = 50;

/** Fields that may occur once (RFC 5322 section 3.6, RFC 2045): receivers disagree about which of two counts. */
const once = new Set(
  "from sender reply-to to cc subject date message-id in-reply-to references mime-version content-type content-transfer-encoding".split(
    " ",
  ),
);
/** Further fields with a sender; Resent-* may occur more than once. */
const senderFields = ["sender", "resent-from", "resent-sender"];
/** Fields that are removed: they are secret, or only the last server or this service may write them. */
const dropped = /^(?:(?:resent-)?bcc|return-path|feedback-id|cfbl-.*|authentication-results|x-posthaste.*)$/i;

export interface ReadSubmission {
  readonly from: Address;
  /** The mailboxes of Sender, Resent-From and Resent-Sender. */
  readonly senders: readonly Address[];
  /** Decoded, on one line. */
  readonly subject: string;
  /** The message to send, without the fields that differ by recipient. */
  readonly raw: Buffer;
}

export interface SubmissionContext {
  /** The id of the submission; part of the Message-ID that a message without one gets. */
  readonly id: string;
  readonly hostname: string;
  readonly now: Date;
  /** MAIL had the parameter SMTPUTF8. */
  readonly isSmtpUtf8: boolean;
}

/** @throws SmtpReply that says what is wrong with the message */
export function readSubmission(given: Buffer, context: SubmissionContext): ReadSubmission {
  const message = withUsualHeader(withCrlfLines(given, LARGEST_MESSAGE));
  const section = readHeaderSection(message, LARGEST_HEADER);
  if (!section.ok) {
    throw section.isTooLarge
      ? new SmtpReply(552, "5.3.4", section.fault)
      : new SmtpReply(554, "5.6.0", section.fault);
  }
  const { fields, bodyStart } = section;
  const named = Map.groupBy(fields, ({ name }) => name.toLowerCase());
  if ((named.get("received")?.length ?? 0) > MOST_RECEIVED) {
    throw new SmtpReply(554, "5.4.6", "Mail loop: the message has more than 50 Received fields");
  }
  const doubled = [...named].find(([name, all]) => once.has(name) && all.length > 1);
  if (doubled !== undefined)
    throw new SmtpReply(550, "5.7.1", `The message has two ${doubled[1][0]?.name} fields`);
  const [from] = named.get("from") ?? [];
  if (from === undefined) throw new SmtpReply(550, "5.7.1", "The message has no From field");
  const sender = readMailbox(from);
  const kept = fields.filter(({ name }) => !dropped.test(name));
  const repaired = repairMessage({ message, fields: kept, bodyStart }, context);
  requireMimeLimits(fields, message.subarray(bodyStart));
  return {
    from: sender,
    senders: senderFields.flatMap((name) => (named.get(name) ?? []).map(readMailbox)),
    subject: readSubject(named.get("subject")?.[0]),
    raw: joinOctets([
      Buffer.from(renderHeaders(missingFields(named, sender, context))),
      repaired.header,
      Buffer.from("\r\n"),
      repaired.body,
    ]),
  };
}

/** The line before each message in an mbox file (RFC 4155), which scripts leave in; `From :` is a field. */
const MBOX_LINE = /^>?From (?![ \t]*:)[^\r\n]*\r\n/;
/** Blanks between name and colon (RFC 5322 section 4.5), which not all receivers accept. */
const BLANKS_BEFORE_COLON = /^([!-9;-~]+)[ \t]+:/gm;

/** Removes the mbox line, and blanks before colons unless the message has a DKIM signature. */
function withUsualHeader(message: Buffer): Buffer {
  const headerEnd = message.subarray(0, LARGEST_HEADER.octets).indexOf("\r\n\r\n");
  const header = message.toString("latin1", 0, headerEnd < 0 ? LARGEST_HEADER.octets : headerEnd + 2);
  const isSigned = /^dkim-signature[ \t]*:/im.test(header);
  const withoutLine = header.replace(MBOX_LINE, "");
  const usual = isSigned ? withoutLine : withoutLine.replace(BLANKS_BEFORE_COLON, "$1:");
  if (usual.length === header.length) return message;
  return joinOctets([usual, message.subarray(header.length)]);
}

/** A field with exactly one mailbox: no group, no list. */
function readMailbox({ name, value }: GivenField): Address {
  const mailbox = parseMailbox(unfold(value));
  if (mailbox.ok) return mailbox;
  throw new SmtpReply(550, "5.7.1", `${name} must contain exactly one mailbox: ${mailbox.message}`);
}

function readSubject(field: GivenField | undefined): string {
  const decoded = decodeWords(unfold(field?.value ?? ""));
  return decoded
    .replace(/[\p{Cc}\p{Zl}\p{Zp}\p{Cs}]+/gu, " ")
    .slice(0, LONGEST_SUBJECT)
    .toWellFormed();
}

/** The Received field, which does not show the client, and missing fields (RFC 6409 section 8). */
function missingFields(
  named: ReadonlyMap<string, unknown>,
  { domain }: Address,
  { id, hostname, now }: SubmissionContext,
): HeaderField[] {
  const date = encodeDate(now);
  const fields: HeaderField[] = [["Received", `by ${hostname} with ESMTPSA id ${id};\r\n ${date}`]];
  if (!named.has("date")) fields.push(["Date", date]);
  if (!named.has("message-id")) fields.push(["Message-ID", `<${id}@${domain}>`]);
  if (!named.has("mime-version")) fields.push(["MIME-Version", "1.0"]);
  return fields;
}

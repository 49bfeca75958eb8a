/**
 * What a client hands in, read before anything is promised: who sends it, what its log will call it, and the octets
 * that will be sent. Nothing is repaired that a receiver could read differently from us: it is refused with the reason.
 */
import { isAscii } from "node:buffer";
import { decodeWords } from "postal-mime";
import type { Address } from "../../mail/address.ts";
import { parseMailbox } from "../../mail/mailbox.ts";
import { encodeDate, type HeaderField, LONGEST_SUBJECT, renderHeaders } from "../../mail/message/header.ts";
import {
  type GivenField,
  type HeaderLimits,
  readHeaderSection,
  unfold,
} from "../../mail/message/header-section.ts";
import { SmtpReply } from "../listener/smtp-reply.ts";

/** RFC 5322 section 2.1.1, without the CRLF. */
const LONGEST_LINE = 998;
const LARGEST_HEADER: HeaderLimits = { octets: 100 * 1024, fields: 1_000 };
/** As Postfix counts: a message that has seen more servers goes in circles. */
const MOST_RECEIVED = 50;

/** RFC 5322 section 3.6 and RFC 2045: readers disagree about which of two is meant. */
const once = new Set(
  "from sender reply-to to cc subject date message-id in-reply-to references mime-version content-type content-transfer-encoding".split(
    " ",
  ),
);
/** Who else a message says it is from; Resent-* may come more than once. */
const senderFields = ["sender", "resent-from", "resent-sender"];
/** Secret, the last server's to write, or ours. */
const dropped = /^(?:(?:resent-)?bcc|return-path|feedback-id|cfbl-.*|authentication-results|x-posthaste.*)$/i;

export interface ReadSubmission {
  readonly from: Address;
  /** Further senders that it names. */
  readonly senders: readonly Address[];
  /** Decoded, of one line. */
  readonly subject: string;
  /** As it is sent, but for what each message adds of its own. */
  readonly raw: Buffer;
}

export interface SubmissionContext {
  /** Of the submission: it becomes the Message-ID of a message without one. */
  readonly id: string;
  readonly hostname: string;
  readonly now: Date;
  /** The client said SMTPUTF8. */
  readonly isSmtpUtf8: boolean;
}

/** @throws SmtpReply that says what is wrong with the message */
export function readSubmission(message: Buffer, context: SubmissionContext): ReadSubmission {
  const fault = lineFault(message);
  if (fault !== null) throw new SmtpReply(554, "5.6.0", fault);
  const section = readHeaderSection(message, LARGEST_HEADER);
  if (!section.ok) {
    throw section.isTooLarge
      ? new SmtpReply(552, "5.3.4", section.fault)
      : new SmtpReply(554, "5.6.0", section.fault);
  }
  const { fields, bodyStart } = section;
  if (!context.isSmtpUtf8 && !isAscii(message.subarray(0, bodyStart))) {
    throw new SmtpReply(
      550,
      "5.6.7",
      "The header is not ASCII: encode it (RFC 2047), or say SMTPUTF8 in MAIL where the client can",
    );
  }
  const named = Map.groupBy(fields, ({ name }) => name.toLowerCase());
  if ((named.get("received")?.length ?? 0) > MOST_RECEIVED) {
    throw new SmtpReply(554, "5.4.6", "The message goes in circles: it has more than 50 Received fields");
  }
  const doubled = [...named].find(([name, all]) => once.has(name) && all.length > 1);
  if (doubled !== undefined)
    throw new SmtpReply(550, "5.7.1", `The message has two ${doubled[1][0]?.name} fields`);
  const [from] = named.get("from") ?? [];
  if (from === undefined) throw new SmtpReply(550, "5.7.1", "The message has no From field");
  const sender = readMailbox(from);
  return {
    from: sender,
    senders: senderFields.flatMap((name) => (named.get(name) ?? []).map(readMailbox)),
    subject: readSubject(named.get("subject")?.[0]),
    raw: Buffer.concat([
      Buffer.from(renderHeaders(missingFields(named, sender, context))),
      ...fields
        .filter(({ name }) => !dropped.test(name))
        .map(({ start, end }) => message.subarray(start, end)),
      Buffer.from("\r\n"),
      message.subarray(bodyStart),
    ]),
  };
}

const LF = 10;
const CR = 13;

/**
 * RFC 5321 section 2.3.8: CRLF ends a line, and neither half of it stands alone; other servers see other lines there.
 * Octet by octet, because to look for each of millions of empty lines takes far longer.
 */
function lineFault(message: Buffer): string | null {
  if (message.includes(0)) return "The message holds a NUL";
  let line = 1;
  let start = 0;
  for (let at = 0; at < message.length; at++) {
    const octet = message[at];
    if (octet !== CR && octet !== LF) continue;
    if (octet === LF || message[at + 1] !== LF) {
      return `Line ${line} holds a bare ${octet === LF ? "LF" : "CR"}: lines end with CRLF`;
    }
    if (at - start > LONGEST_LINE) {
      return `Line ${line} is longer than ${LONGEST_LINE} octets: encode it as quoted-printable or Base64`;
    }
    at += 1;
    line += 1;
    start = at + 1;
  }
  return start === message.length ? null : `Line ${line} does not end with CRLF`;
}

/** One mailbox, plainly written: no group, no list, no comment. */
function readMailbox({ name, value }: GivenField): Address {
  const mailbox = parseMailbox(unfold(value));
  if (mailbox.ok) return mailbox;
  throw new SmtpReply(550, "5.7.1", `${name} must hold exactly one mailbox: ${mailbox.message}`);
}

function readSubject(field: GivenField | undefined): string {
  const decoded = decodeWords(unfold(field?.value ?? ""));
  return decoded
    .replace(/[\p{Cc}\p{Zl}\p{Zp}\p{Cs}]+/gu, " ")
    .slice(0, LONGEST_SUBJECT)
    .toWellFormed();
}

/** Our trace, which names no client (RFC 6409 section 8 lets us complete the rest). */
function missingFields(
  named: ReadonlyMap<string, unknown>,
  { domain }: Address,
  { id, hostname, now }: SubmissionContext,
): HeaderField[] {
  const date = encodeDate(now);
  const fields: HeaderField[] = [["Received", `by ${hostname} with ESMTPSA id ${id};\r\n ${date}`]];
  if (!named.has("date")) fields.push(["Date", date]);
  if (!named.has("message-id")) fields.push(["Message-ID", `<${id}@${domain}>`]);
  return fields;
}

/**
 * Decides whether a mail without a delivery-status part is about a delivery. Signs of an automatic reply take
 * precedence, unless the mail quotes a server's reply, or the local part of its From or a header field proves a mail
 * system.
 */

import { classifyReply } from "#mail/refusals/classify-reply.ts";
import type { BounceCategory } from "#mail/refusals/reply-codes.ts";
import { type AutoReplySign, autoReplySign } from "./auto-reply.ts";
import { REPLY_SUBJECT } from "./auto-reply-rules.ts";
import { MAIL_SYSTEM, MAILER_DAEMON, POSTMASTER } from "./bounce-text-rules.ts";
import { type DeliveryEvidence, type DeliveryState, readDeliveryState } from "./delivery-state-in-text.ts";
import { headerValue, type MailPart, senderLocalPart } from "./lenient-mime.ts";
import type { BounceNotice } from "./split-off-returned-message.ts";

/** A number followed by its enhanced code is not a telephone extension: "550 5.1.1", "550-5.1.1", "551 #5.1.1". */
const FULL_CODE = /(?<![\w.:/-])([45])\d\d[ -]+\W{0,2}\1\.\d{1,3}\.\d{1,3}(?![\w.])/;
/** The form that qmail uses: "(#5.1.1)". */
const HASH_CODE = /\(#([45])\.\d{1,3}\.\d{1,3}\)/;
/** Reply codes of refusals (RFC 5321 section 4.2.3, RFC 7504). */
const BARE_CODE = /(?<![\w.:/+()-])(42[1-2]|45[0-5]|50[0-4]|521|5[345]\d)[ -]\s*(?=\W{0,3}\p{L})/gu;
/** A permanent code in any surroundings, for text that is not understood otherwise. */
const PERMANENT =
  /(?<![\w.])5\.[0-7]\.\d{1,3}(?![\w.])|(?<![\w.:/+()-])(?:50[1-4]|521|5[345]\d)[ -]\s*(?=\W{0,3}[\p{L}#<]|5\.\d)/u;
/** Categories that text after a code gets if it is not a refusal. */
const VAGUE: ReadonlySet<BounceCategory> = new Set(["Undetermined", "General", "ProtocolError"]);
/** Limit of characters after a code that are classified. */
const LONGEST_REFUSAL = 200;
const MOST_CODES = 50;

/** What the mail says about the delivery; null if it is not about one. */
export function detectDeliveryState(
  mail: MailPart,
  notice: BounceNotice,
  namesFailed: boolean,
): Exclude<DeliveryState, "unknown"> | null {
  const text = notice.lines.join(" ").replace(/\s+/g, " ");
  const quoted = quotedRefusal(text);
  const quotesPermanent = quoted === "5" || PERMANENT.test(text);
  const words = readDeliveryState(notice.lines, notice.subject, quotesPermanent);
  const sender = senderOf(mail);
  const isReport = mail.parameters.get("report-type")?.toLowerCase() === "delivery-status";
  const isReply =
    REPLY_SUBJECT.test(notice.subject) &&
    (headerValue(mail, "In-Reply-To") ?? headerValue(mail, "References")) !== null;
  const { returnsMessage } = notice;
  const evidence = { ...words, sender, quoted, namesFailed, isReport, isReply, returnsMessage };
  if (isAutoReply(mail, text, evidence) || !isBounce(evidence)) return null;
  if (words.state !== "unknown") return words.state;
  // Text that is not understood is no failure, unless X-Failed-Recipients names the recipient.
  return namesFailed ? "failed" : "delayed";
}

/** How certain it is that a mail which is not about a delivery is an automatic reply. */
export function autoReplySignIn(mail: MailPart, { lines }: BounceNotice): AutoReplySign {
  return autoReplySign(mail, lines.join(" ").replace(/\s+/g, " "));
}

/** null: the null sender. system: a local part that mail systems use, and people may use. */
type Sender = "mailer-daemon" | "postmaster" | "null" | "system" | "other";

interface Evidence extends DeliveryEvidence {
  readonly sender: Sender;
  /** The first digit of a quoted reply code. */
  readonly quoted: "4" | "5" | null;
  readonly namesFailed: boolean;
  readonly isReport: boolean;
  /** Subject and header fields are those of a reply that a person writes. */
  readonly isReply: boolean;
  readonly returnsMessage: boolean;
}

function senderOf(mail: MailPart): Sender {
  const from = headerValue(mail, "From") ?? "";
  if (/<\s*>\s*$/.test(from)) return "null";
  const local = senderLocalPart(mail);
  if (MAILER_DAEMON.test(local)) return "mailer-daemon";
  if (POSTMASTER.test(local)) return "postmaster";
  return MAIL_SYSTEM.test(local) ? "system" : "other";
}

function isAutoReply(mail: MailPart, text: string, evidence: Evidence): boolean {
  const { sender, quoted, namesFailed, isReport, subject, text: says, strong, returnsMessage } = evidence;
  if (quoted !== null || namesFailed || isReport) return false;
  const sign = autoReplySign(mail, text);
  if (sign === null) return false;
  // A postmaster may also send an out-of-office reply; then nothing in the mail is about a delivery.
  if (sender === "mailer-daemon" || sender === "postmaster" || sender === "null") {
    const isAboutDelivery = strong || returnsMessage || (sign !== "subject" && (subject || !says));
    return sign !== "shared" && !isAboutDelivery;
  }
  return sign !== "shared" || !((subject && says) || (strong && returnsMessage));
}

function isBounce(evidence: Evidence): boolean {
  const { sender, quoted, namesFailed, isReport, subject, text, strong, state, returnsMessage, isReply } =
    evidence;
  if (namesFailed || isReport) return true;
  switch (sender) {
    case "mailer-daemon":
      return true;
    case "postmaster":
    case "null":
      return subject || text || state !== "unknown" || quoted !== null || returnsMessage;
    case "system":
      return subject || strong || quoted !== null;
    case "other":
      return (
        (subject && text && !isReply) ||
        (strong && (returnsMessage || quoted !== null)) ||
        (quoted !== null && returnsMessage)
      );
  }
}

/** The first digit of the quoted reply code; a permanent code takes precedence. */
function quotedRefusal(text: string): "4" | "5" | null {
  const digits = [FULL_CODE.exec(text)?.[1], HASH_CODE.exec(text)?.[1]];
  let read = 0;
  for (const { 1: code = "", index } of text.matchAll(BARE_CODE)) {
    if (++read > MOST_CODES) break;
    const said = text.slice(index, index + LONGEST_REFUSAL);
    const { category } = classifyReply({ code: null, enhanced: null, text: said, stage: "report" });
    if (!VAGUE.has(category)) digits.push(code[0]);
  }
  return digits.includes("5") ? "5" : digits.includes("4") ? "4" : null;
}

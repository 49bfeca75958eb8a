/**
 * Recognizes automatic replies that are not about delivery: out-of-office replies, challenges of spam filters, replies
 * of mailing lists and ticket systems (RFC 3834), read receipts (RFC 8098). They mean that the message arrived.
 */
import {
  AUTO_REPLY_HEADERS,
  AUTO_REPLY_SENDER,
  AUTO_REPLY_SUBJECT,
  AUTO_REPLY_SUBJECT_START,
  CHALLENGE_SUBJECT,
  CHALLENGE_TEXT,
  type HeaderRule,
  LIST_HEADERS,
  LIST_SUBJECT,
  SHARED_HEADERS,
} from "./auto-reply-rules.ts";
import { failureIn } from "./delivery-state-in-text.ts";
import { headerText, headerValue, type MailPart, ownParts, senderLocalPart } from "./lenient-mime.ts";
import { normalizeText } from "./normalize-text.ts";

/**
 * - subject: the subject is that of an automatic reply
 * - header: a header field says so
 * - shared: a header field that bounces have as well
 */
export type AutoReplySign = "subject" | "header" | "shared" | null;

/**
 * The strongest sign that a mail is an automatic reply. Some bounces have the same signs.
 * @param text the mail's own text in one line
 */
export function autoReplySign(mail: MailPart, text: string): AutoReplySign {
  const subject = headerText(mail, "Subject");
  if (isAnswerSubject(subject) || isListAnswer(mail, subject)) return "subject";
  if (
    isMarkedAsAutoReply(mail) ||
    AUTO_REPLY_SENDER.test(senderLocalPart(mail)) ||
    CHALLENGE_TEXT.test(text)
  ) {
    return "header";
  }
  return hasHeader(mail, SHARED_HEADERS) ? "shared" : null;
}

/** A message disposition notification (RFC 8098): the message arrived, whatever the reader did with it. */
export function isReadReceipt(mail: MailPart): boolean {
  return (
    mail.parameters.get("report-type")?.toLowerCase() === "disposition-notification" ||
    ownParts(mail).some(({ type }) => /^message\/(?:global-)?disposition-notification$/.test(type))
  );
}

/** Whether a header field says that the mail is an automatic reply. */
export function isMarkedAsAutoReply(mail: MailPart): boolean {
  return hasHeader(mail, AUTO_REPLY_HEADERS);
}

function hasHeader({ headers }: MailPart, rules: readonly HeaderRule[]): boolean {
  return headers.some(([field, said]) =>
    rules.some(({ name, value }) => name.test(field) && value.test(said)),
  );
}

function isAnswerSubject(subject: string): boolean {
  const plain = normalizeText(subject);
  if (AUTO_REPLY_SUBJECT_START.test(plain)) return true;
  return precedesFailure(subject, [plain.search(AUTO_REPLY_SUBJECT), plain.search(CHALLENGE_SUBJECT)]);
}

/** Bounces often end in the subject of our message, so the sign must come before any words about a failure. */
function precedesFailure(subject: string, places: readonly number[]): boolean {
  const found = places.filter((at) => at >= 0);
  const failure = failureIn(subject);
  return found.length > 0 && (failure < 0 || Math.min(...found) < failure);
}

function isListAnswer(mail: MailPart, subject: string): boolean {
  const isBulk = /^(?:bulk|list|junk)\b/i.test(headerValue(mail, "Precedence") ?? "");
  const fromList = LIST_HEADERS.some((name) => headerValue(mail, name) !== null);
  return (isBulk || fromList) && precedesFailure(subject, [normalizeText(subject).search(LIST_SUBJECT)]);
}

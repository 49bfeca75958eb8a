/**
 * Tells mails that a program sent in answer to ours without being about its delivery: absence notes, challenges of
 * spam filters, answers of mailing lists and ticket systems (RFC 3834), read receipts (RFC 8098). They mean that the
 * mail arrived.
 */
import {
  ANSWER_HEADERS,
  ANSWER_SUBJECT,
  ANSWER_SUBJECT_START,
  ANSWERING_SENDER,
  CHALLENGE_SUBJECT,
  CHALLENGE_TEXT,
  type HeaderRule,
  LIST_HEADERS,
  LIST_SUBJECT,
  SHARED_HEADERS,
} from "./auto-reply-rules.ts";
import { failureIn } from "./delivery-state.ts";
import { fieldOf, type MailPart, ownParts, senderLocalPart, wordsOf } from "./lenient-mime.ts";
import { plainWords } from "./normalize-text.ts";

/**
 * - subject: the subject is that of an automatic answer
 * - header: a header field says so
 * - shared: a header field says that a program wrote it, as bounces have it too
 */
export type AnswerMark = "subject" | "header" | "shared" | null;

/**
 * The surest mark of an automatic answer that a mail bears. Some bounces bear the same marks.
 * @param text the mail's own words, on one line
 */
export function answerMark(mail: MailPart, text: string): AnswerMark {
  const subject = wordsOf(mail, "Subject");
  if (isAnswerSubject(subject) || isListAnswer(mail, subject)) return "subject";
  if (
    bears(mail, ANSWER_HEADERS) ||
    ANSWERING_SENDER.test(senderLocalPart(mail)) ||
    CHALLENGE_TEXT.test(text)
  ) {
    return "header";
  }
  return bears(mail, SHARED_HEADERS) ? "shared" : null;
}

/** A message disposition notification (RFC 8098): the mail arrived, whatever was done with it then. */
export function isReadReceipt(mail: MailPart): boolean {
  return (
    mail.parameters.get("report-type")?.toLowerCase() === "disposition-notification" ||
    ownParts(mail).some(({ type }) => /^message\/(?:global-)?disposition-notification$/.test(type))
  );
}

function bears({ headers }: MailPart, rules: readonly HeaderRule[]): boolean {
  return headers.some(([field, said]) =>
    rules.some(({ name, value }) => name.test(field) && value.test(said)),
  );
}

function isAnswerSubject(subject: string): boolean {
  const plain = plainWords(subject);
  if (ANSWER_SUBJECT_START.test(plain)) return true;
  return standsFirst(subject, [plain.search(ANSWER_SUBJECT), plain.search(CHALLENGE_SUBJECT)]);
}

/** A notice about a delivery has the subject of our message behind its own. */
function standsFirst(subject: string, places: readonly number[]): boolean {
  const found = places.filter((at) => at >= 0);
  const failure = failureIn(subject);
  return found.length > 0 && (failure < 0 || Math.min(...found) < failure);
}

function isListAnswer(mail: MailPart, subject: string): boolean {
  const isBulk = /^(?:bulk|list|junk)\b/i.test(fieldOf(mail, "Precedence") ?? "");
  const fromList = LIST_HEADERS.some((name) => fieldOf(mail, name) !== null);
  return (isBulk || fromList) && standsFirst(subject, [plainWords(subject).search(LIST_SUBJECT)]);
}

import { inTime, PATIENCE_MS } from "#platform/in-time.ts";

/** RFC 5321 section 4.5.3.1.5: a reply line has 512 octets, code, enhanced code and CRLF included. */
const LONGEST_TEXT = 480;

/** A negative SMTP reply: thrown by a conversation, written by the listener. */
export class SmtpReply extends Error {
  override readonly name = "SmtpReply";
  /** smtp-server reads the reply code from this field; 421 also closes the connection. */
  readonly responseCode: number;
  readonly enhanced: string;
  readonly text: string;

  /** @param enhanced the enhanced status code (RFC 3463) */
  constructor(responseCode: number, enhanced: string, text: string, options?: ErrorOptions) {
    super(`${enhanced} ${replyText(text)}`, options);
    this.responseCode = responseCode;
    this.enhanced = enhanced;
    this.text = text;
  }
}

/** Resolves like `answer`. @throws SmtpReply 451 when the database takes longer than a few seconds */
export function answerSoon<Value>(answer: Promise<Value>): Promise<Value> {
  return inTime(
    PATIENCE_MS,
    answer,
    () => new SmtpReply(451, "4.3.0", "The database gives no answer: retry shortly"),
  );
}

/** The text as one line of printable ASCII, cut to the longest reply line. */
function replyText(text: string): string {
  const plain = text.replace(/[^ -~]+/g, "?");
  return plain.length > LONGEST_TEXT ? `${plain.slice(0, LONGEST_TEXT - 3)}...` : plain;
}

/** A refusal as SMTP says it: thrown by whoever decides, written by the listener. */

import { inTime, PATIENCE_MS } from "#platform/in-time.ts";

/** RFC 5321 section 4.5.3.1.5: a reply line has 512 octets, code, enhanced code and CRLF included. */
const LONGEST_TEXT = 480;

export class SmtpReply extends Error {
  override readonly name = "SmtpReply";
  /** Where the SMTP library looks for it; 421 also closes the connection. */
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

/** The answer, or 451 within seconds when the database gives none. */
export function answerSoon<Value>(answer: Promise<Value>): Promise<Value> {
  return inTime(
    PATIENCE_MS,
    answer,
    () => new SmtpReply(451, "4.3.0", "The database gives no answer: retry shortly"),
  );
}

/** Printable ASCII of one line, as all clients read it. */
export function replyText(text: string): string {
  const plain = text.replace(/[^ -~]+/g, "?");
  return plain.length > LONGEST_TEXT ? `${plain.slice(0, LONGEST_TEXT - 3)}...` : plain;
}

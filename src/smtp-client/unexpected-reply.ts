/** Which replies let a stage continue, and what the others mean. */
import type { SmtpFailure, SmtpFault, SmtpRejection, SmtpStage } from "./outcome.ts";
import { answerOf, quoteReply, type ServerReply } from "./reply-reader.ts";

/** The first digit of the reply that each stage expects (RFC 5321 section 4.3.2). */
const HOPED_FOR = { banner: 2, ehlo: 2, starttls: 2, auth: 2, mail: 2, rcpt: 2, data: 3, dot: 2 } as const;

const ANSWERED = {
  banner: "greeted with",
  ehlo: "answered EHLO with",
  starttls: "answered STARTTLS with",
  auth: "answered AUTH with",
  mail: "answered MAIL with",
  rcpt: "answered RCPT with",
  data: "answered DATA with",
  dot: "answered the message with",
} as const satisfies Record<keyof typeof HOPED_FOR, string>;

/**
 * The rejection or failure that prevents the next step; null for the expected reply. A positive reply of the wrong kind
 * (354 to MAIL, 250 to DATA) means that client and server are out of step.
 */
export function unexpectedReply(
  stage: keyof typeof HOPED_FOR,
  reply: ServerReply | SmtpFault,
  dataSent = false,
): SmtpRejection | SmtpFailure | null {
  if ("fault" in reply) return smtpFailure(stage, reply, dataSent);
  const kind = Math.trunc(reply.code / 100);
  // RFC 5321 section 4.3.2. A 220 here is a second banner; the reply to EHLO is still to come.
  const isHopedFor = stage === "ehlo" ? reply.code === 250 : kind === HOPED_FOR[stage];
  if (isHopedFor) return null;
  if (kind >= 4) return { outcome: "refused", stage, ...answerOf(reply) };
  const reason = `the server ${ANSWERED[stage]} "${quoteReply(reply)}"`;
  return smtpFailure(stage, { fault: "protocol", reason }, dataSent);
}

/** A failure at a stage. @param dataSent whether the final dot was sent */
export function smtpFailure(stage: SmtpStage, fault: SmtpFault, dataSent = false): SmtpFailure {
  return { outcome: "broken", stage, fault: fault.fault, reason: fault.reason, dataSent };
}

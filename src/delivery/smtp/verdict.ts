/** From a reply (or its absence) to a result: which replies let a stage go on, and what the others mean. */
import type { Broken, Fault, Refused, SmtpAnswer, SmtpStage } from "./outcome.ts";
import { answerOf, quoteReply, type Reply } from "./reply-reader.ts";

/** The first digit that each stage hopes for (RFC 5321 section 4.3.2). */
const HOPED_FOR = { banner: 2, ehlo: 2, starttls: 2, auth: 2, mail: 2, rcpt: 2, data: 3, dot: 2 } as const;

/**
 * What stands in the way of going on; null when the reply was the one hoped for. A positive reply of the wrong kind
 * (354 to MAIL, 250 to DATA) means that the two sides no longer talk about the same command.
 */
export function obstacleIn(
  stage: keyof typeof HOPED_FOR,
  reply: Reply | Fault,
  dataSent = false,
): Refused | Broken | null {
  if ("fault" in reply) return broken(stage, reply, dataSent);
  const kind = Math.trunc(reply.code / 100);
  if (kind === HOPED_FOR[stage]) return null;
  if (kind >= 4) return { outcome: "refused", stage, ...answerOf(reply) };
  return broken(stage, { fault: "protocol", reason: `${stage} answered "${quoteReply(reply)}"` }, dataSent);
}

export function broken(stage: SmtpStage, fault: Fault, dataSent = false): Broken {
  return { outcome: "broken", stage, fault: fault.fault, reason: fault.reason, dataSent };
}

/** RFC 3207 section 4 (530), RFC 5248 (523 and X.7.10), and what servers write in their place. */
const TLS_WANTED =
  /start-?tls|\btls\b|\bssl\b|encrypt|secure (?:connection|channel|session|transport)|verschl.{1,4}ssel|chiffr|cifrad|crittograf|criptograf|versleutel|szyfr|šifr|крипт|шифр|暗号|加密|암호화/iu;

/** A refusal of what came in clear text, because of that. */
export function demandsTls({ code, enhanced, text }: SmtpAnswer): boolean {
  return code === 530 || code === 523 || enhanced?.endsWith(".7.10") === true || TLS_WANTED.test(text);
}

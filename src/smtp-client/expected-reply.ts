/** From a reply (or its absence) to a result: which replies let a stage go on, and what the others mean. */
import type { Broken, Fault, Refused, SmtpAnswer, SmtpStage } from "./outcome.ts";
import { answerOf, quoteReply, type Reply } from "./reply-reader.ts";

/** The first digit that each stage hopes for (RFC 5321 section 4.3.2). */
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
  // RFC 5321 section 4.3.2. A 220 here is a second greeting, behind which the answer to EHLO is still to come.
  const isHopedFor = stage === "ehlo" ? reply.code === 250 : kind === HOPED_FOR[stage];
  if (isHopedFor) return null;
  if (kind >= 4) return { outcome: "refused", stage, ...answerOf(reply) };
  const reason = `the server ${ANSWERED[stage]} "${quoteReply(reply)}"`;
  return broken(stage, { fault: "protocol", reason }, dataSent);
}

export function broken(stage: SmtpStage, fault: Fault, dataSent = false): Broken {
  return { outcome: "broken", stage, fault: fault.fault, reason: fault.reason, dataSent };
}

/** Addresses, links and host names, which may be called after TLS. "TLSv1.2" is none. */
const NAMES =
  /<[^<>]*@[^<>]*>|\S+@\S+|https?:\/\/\S+|[\p{L}\p{N}_-]+(?:\.[\p{L}\p{N}_-]+)*\.\p{L}[\p{L}\p{N}-]+/giu;
/** What servers call TLS. */
const TLS =
  /start-?tls|\btls(?:v?1[.\d]*)?\b|\bssl\b|encrypt|secured? (?:connection|channel|session|transport)|verschl.{1,4}ssel|chiffr|cifrad|crittograf|criptograf|versleutel|szyfr|šifr|крипт|шифр|暗号|加密|암호화/iu;
/** That they insist on it. */
const DEMAND =
  /\bmust\b|requir|\bneed|\bonly\b|mandatory|necessary|enforce|insist|\buse\b|without|erforder|benötig|benoetig|notwendig|nötig|\bmuss\b|zwingend|\bnur\b|verlangt|ohne|\brequis|nécessaire|obligat|\bexig|uniquement|\bsans\b|\brequer|\brequier|necesari|\bdebe\b|\bsin\b|richiest|necessari|\bdeve\b|senza|vereist|verplicht|\bnodig|\bmoet\b|wymag|konieczn|musi\b|vyžad|nutn|povinn|требу|необходим|обязательн|должн|потріб|必須|必要|要求|需要|必须|請使用|请使用|필요|필수/iu;
const CLEAR_TEXT =
  /(?:un-?encrypted|not encrypted|insecure|unsecured?|clear-? ?text|plain-? ?text|non-(?:tls|ssl)) (?:smtp |tcp |mail )?(?:connection|session|channel|transport|delivery|transmission)/iu;
/** What may be encrypted in a message, which TLS has nothing to do with. */
const ENCRYPTED_CONTENT =
  /attach|archiv|\bzip\b|\bfiles?\b|document|password|s\/mime|\bpgp\b|\bgpg\b|anhang|anhäng|dateien|pièces? jointe|fichier|adjunt|allegat|bijlage|załącznik|вложени|附件|添付|첨부/iu;

/**
 * A refusal of what came in clear text, because of that: RFC 3207 section 4 (530), RFC 5248 (523, X.7.10 and X.7.11), and
 * what servers write in their place. A 4xx may only mention TLS; a 5xx, which would be final otherwise, has to demand it.
 */
export function demandsTls({ code, enhanced, text }: SmtpAnswer): boolean {
  // About the recipient or its mailbox.
  if (enhanced !== null && /^\d\.[12]\./.test(enhanced)) return false;
  if (code === 530 || code === 523 || (enhanced !== null && /\.7\.1[01]$/.test(enhanced))) return true;
  const words = text.replace(NAMES, " ");
  if (code < 500) return TLS.test(words);
  if (ENCRYPTED_CONTENT.test(words)) return false;
  return CLEAR_TEXT.test(words) || (TLS.test(words) && DEMAND.test(words));
}

/**
 * Recognizes rejections by which a server demands TLS, from a session in clear text:
 *
 *     530 5.7.0 Must issue a STARTTLS command first          RFC 3207 section 4
 *     523 5.7.10 Encryption needed                           RFC 5248
 *     550 5.7.1 This server requires SSL/TLS                 by its text
 *     451 4.7.0 TLS verbindung erforderlich                  by its text
 *
 * Such a rejection is about the session, not about the message or its recipient.
 */
import type { SmtpAnswer } from "./outcome.ts";

/** E-mail addresses, links and host names, which may have "tls" in their name. "TLSv1.2" is none of these. */
const NAMES =
  /<[^<>]*@[^<>]*>|\S+@\S+|https?:\/\/\S+|[\p{L}\p{N}_-]+(?:\.[\p{L}\p{N}_-]+)*\.\p{L}[\p{L}\p{N}-]+/giu;
/** The names of TLS. */
const TLS =
  /start-?tls|\btls(?:v?1[.\d]*)?\b|\bssl\b|encrypt|secured? (?:connection|channel|session|transport)|verschl.{1,4}ssel|chiffr|cifrad|crittograf|criptograf|versleutel|szyfr|šifr|крипт|шифр|暗号|加密|암호화/iu;
/** Words that demand it. */
const DEMAND =
  /\bmust\b|requir|\bneed|\bonly\b|mandatory|necessary|enforce|insist|\buse\b|without|erforder|benötig|benoetig|notwendig|nötig|\bmuss\b|zwingend|\bnur\b|verlangt|ohne|\brequis|nécessaire|obligat|\bexig|uniquement|\bsans\b|\brequer|\brequier|necesari|\bdebe\b|\bsin\b|richiest|necessari|\bdeve\b|senza|vereist|verplicht|\bnodig|\bmoet\b|wymag|konieczn|musi\b|vyžad|nutn|povinn|требу|необходим|обязательн|должн|потріб|必須|必要|要求|需要|必须|請使用|请使用|필요|필수/iu;
const CLEAR_TEXT =
  /(?:un-?encrypted|not encrypted|insecure|unsecured?|clear-? ?text|plain-? ?text|non-(?:tls|ssl)) (?:smtp |tcp |mail )?(?:connection|session|channel|transport|delivery|transmission)/iu;
/** Words about encrypted content, which has nothing to do with TLS. */
const ENCRYPTED_CONTENT =
  /attach|archiv|\bzip\b|\bfiles?\b|document|password|s\/mime|\bpgp\b|\bgpg\b|anhang|anhäng|dateien|pièces? jointe|fichier|adjunt|allegat|bijlage|załącznik|вложени|附件|添付|첨부/iu;

/**
 * Whether a reply to a message in clear text demands TLS: RFC 3207 section 4 (530), RFC 5248 (523, X.7.10 and X.7.11),
 * or by its text.
 * A 4xx only has to mention TLS; a 5xx, which would otherwise be final, has to demand it.
 */
export function demandsTls({ code, enhanced, text }: SmtpAnswer): boolean {
  // X.1.Y and X.2.Y are about the recipient or its mailbox.
  if (enhanced !== null && /^\d\.[12]\./.test(enhanced)) return false;
  if (code === 530 || code === 523 || (enhanced !== null && /\.7\.1[01]$/.test(enhanced))) return true;
  const words = text.replace(NAMES, " ");
  if (code < 500) return TLS.test(words);
  if (ENCRYPTED_CONTENT.test(words)) return false;
  return CLEAR_TEXT.test(words) || (TLS.test(words) && DEMAND.test(words));
}

/** Whether a server refused a message because it came in clear text. */
import type { SmtpAnswer } from "./outcome.ts";

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

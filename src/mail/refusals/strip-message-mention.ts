/**
 * Handles replies that first name the message: "Message from <news@example.com> could not be delivered: no such user".
 * The sender's address there is no complaint about the sender. "Not delivered" says nothing, so it is cut and the rest
 * is the reason. "Rejected" may be the reason itself, so it is cut only if the rest is certainly about the recipient.
 */

/** Replaces every e-mail address in text from normalizeReplyText(). */
export const ADDRESS_MARK = "emailaddressmark";

/** The rest of a reply that names our message. */
export interface Reason {
  /** The text without the part about the message. */
  readonly words: string;
  /** The text names the recipient, or cannot mean the sender. */
  readonly isAboutRecipient: boolean;
}

const MESSAGE = "(?:e-?mails?|mails?|messages?)";
/** The sender's address with its display name; host names are already cut. An IP address does not match. */
const FROM = `(?:sent |coming )?(?:from|by):?(?: (?:[^\\s.:;!?]+ ){0,4}?${ADDRESS_MARK})?`;
const TO = `(?:,? (?:(?:sent|addressed) )?(?:to|for):? (?:[^\\s.:;!?]+ ){0,4}?${ADDRESS_MARK})`;
/** "With subject Hello". */
const MORE = "(?:,? (?:with|dated|of|on|sent) (?:[^\\s.:;!?]+ ?){1,6}?)?";
const HELPING =
  "(?:,? (?:could|can|would|was|were|has|have|is|are|had|will|not|cannot|be|been|being|\\w+n't|permanently|therefore|thus|also|automatically|finally|it|which))*";
/** "Message from" in other languages, and how they say that it is rejected. */
const ELSEWHERE =
  "(?:nachricht|e-?mail|mail|message|courriel|mensaje|correo|messaggio|mensagem|bericht|wiadomosc|zprava|sprava|meddeland\\p{L}*|melding\\p{L}*|besked\\p{L}*|mesaj\\p{L}*|сообщени\\p{L}*|письм\\p{L}*)";
const FROM_ELSEWHERE = `(?:von|vom|de|da|do|dal|del|della|van|od|fran|fra|от|від)(?: (?:[^\\s.:;!?]+ ){0,4}?${ADDRESS_MARK})`;
const TO_ELSEWHERE = `(?:,? (?:an|fur|a|al|para|per|pour|aan|voor|do|dla|pro|till|til|для|на) (?:[^\\s.:;!?]+ ){0,4}?${ADDRESS_MARK})`;
const REJECTED_ELSEWHERE =
  "abgelehnt|abgewiesen|zuruckgewiesen|refuse|refusee|rejete|rejetee|rechazad[oa]|rifiutat[oa]|respint[oa]|rejeitad[oa]|recusad[oa]|geweigerd|afgewezen|odrzucon\\p{L}*|odmitnut\\p{L}*|avvisa\\p{L}*|avvist\\p{L}*|reddedil\\p{L}*|отклонен\\p{L}*|отвергнут\\p{L}*";

const WORD_BEGIN = "(?<![\\p{L}\\d-])";
const WORD_END = "(?![\\p{L}\\d])";
const UNDELIVERED = new RegExp(
  `${WORD_BEGIN}(?:the |your |an? )?${MESSAGE} ${FROM}${TO}?${MORE}${HELPING} (?:un)?(?:delivered|deliverable|sent|returned|transmitted)${WORD_END}${TO}?`,
  "gu",
);
const REJECTED = new RegExp(
  [
    `${WORD_BEGIN}(?:the |your |an? )?(?<subject>${MESSAGE} ${FROM})(?<toRecipient>${TO})?${MORE}${HELPING} (?:rejected|refused|denied|blocked|accepted|declined|discarded|dropped|bounced)${WORD_END}(?<thenRecipient>${TO})?`,
    `${WORD_BEGIN}(?:accept|reject|refus|block|declin)\\p{L}{0,3} (?:the |your |an? |this |any )?(?<object>${MESSAGE} ${FROM})(?<forRecipient>${TO})?`,
    `${WORD_BEGIN}${ELSEWHERE} ${FROM_ELSEWHERE}(?<recipient>${TO_ELSEWHERE})?(?: [^\\s.:;,!?]+){0,4}? (?:${REJECTED_ELSEWHERE})${WORD_END}`,
  ].join("|"),
  "u",
);
/** Words that only mean a recipient. */
const RECIPIENT =
  /recipient|addressee|mail ?box|inbox|rcpt|empfanger|postfach|destinatai?r|casella|casilla|buzon|boite|caixa|ontvanger|postvak|odbiorc|skrzynk|prijemc|schrank|mottag|modtag|mottak|cimzett|alici\b|получател|одержувач|ящик/u;
/** Words that may mean the sender or the recipient. */
const ANYONES =
  /\b(?:e-?mail )?(?:address|adress|account|compte|konto|cuenta|conta\b|direccion|indirizzo|endereco|adres\b)|адрес|sender/u;
/** The SMTP command, whose argument is the sender. */
const MAIL_COMMAND = /^mail from/;

/** The text without the part that says the message is not delivered. */
export function withoutDelivery(marked: string): string {
  return unmarked(marked.replace(UNDELIVERED, ";"));
}

/** The text without the part that says the message of a sender is rejected; null if there is no such part. */
export function besidesRejection(marked: string): Reason | null {
  const match = REJECTED.exec(marked);
  if (match === null) return null;
  const { subject, object, ...recipients } = match.groups ?? {};
  const words = unmarked(`${marked.slice(0, match.index)};${marked.slice(match.index + match[0].length)}`);
  const isNamed = Object.values(recipients).some((recipient) => recipient !== undefined);
  const isOpen = MAIL_COMMAND.test(subject ?? object ?? "") || ANYONES.test(words);
  return { words, isAboutRecipient: isNamed || RECIPIENT.test(words) || !isOpen };
}

function unmarked(marked: string): string {
  return marked.replaceAll(ADDRESS_MARK, " ").replace(/\s+/g, " ").trim();
}

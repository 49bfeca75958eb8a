/**
 * What receivers' words mean. A rule is about a kind of sentence, not about one provider's text, and the order of the
 * rules carries the safety: whatever speaks of us (our address, our domain, our rate, our message) stands before
 * whatever speaks of the recipient, because a recipient who is suppressed by mistake hears from nobody any more.
 */
import type { Meaning } from "./codes.ts";

interface TextRule extends Meaning {
  /** On lower-case text without accents; smtp-reply.ts says what else is taken out. Each begins and ends a word. */
  readonly phrases: readonly RegExp[];
  /** Applies only to these enhanced codes (subject and detail, "" when there is none). */
  readonly codes?: RegExp;
}

/** A phrase put together from others. */
function phrase({ raw }: TemplateStringsArray, ...parts: RegExp[]): RegExp {
  return new RegExp(String.raw({ raw }, ...parts.map((part) => part.source)));
}

/** The word before does not say that it is about us. */
const NOT_US =
  /(?<!-)(?<!\b(?:ip|your|sender|sender's|sending|from|source|client|return|reply|reverse|envelope)(?: (?:e-?)?mail)? )/;
const RECIPIENT = phrase`${NOT_US}(?:mail ?(?:box|drop)|(?:e-?mail )?(?:user|account|recipient|alias)(?:es|s)?|(?:e-?)?mail ?address|e-?mail|address(?:ee|es)?|rcpt(?: to)?|person|local[- ]part|login|user ?id)`;
/** One word between the recipient and what is said of it. */
const GAP =
  /(?: (?!ip\b|sender|sending|from\b|source|client|return|reverse|helo|ehlo|envelope|domain|host|in\b|\d)\S+)/;
const US =
  /(?:client(?: host)?|connection|ip(?: address)?|network|(?:your|sending)(?: mail)? (?:server|domain))/;
/** Every enhanced code but those about addresses, which such vague words do not overrule. */
const NOT_ADDRESS_CODES = /^(?!1\.)/;

const RULES: readonly TextRule[] = [
  { category: "Greylisted", phrases: [/gr[ae]y-? ?list\w*/] },
  {
    category: "RateLimited",
    scope: "recipient",
    phrases: [
      /user you are trying to contact|recipient (?:has )?exceeded(?!.* (?:quota|storage|space))|recipient (?:thread )?limit/,
      /too many recent messages|too many recipients/,
    ],
  },
  {
    category: "RateLimited",
    phrases: [
      /(?:message |sending |receiving |mail )?rate ?-?limit\w*/,
      /rate (?:control|exceeded)|throttl\w*/,
      /too many (?!hops|aliases|(?:e-?)?(?:mails?|messages) (?:on|in) )\w+/,
      /too (?:fast|quickly|frequent(?:ly)?|often|much (?:e-?)?mail(?! (?:is )?(?:stored|in)))/,
      /(?:daily|hourly|sending|submission|outgoing|outbound|queue|message|connection|thread) (?:(?!size)\w+ )?(?:quota|limit)/,
      /(?:exceed\w*|limit|max\w*|reached)(?: (?!size)\S+){0,5} (?:per (?:hour|day|minute|second)|hourly|connections?|concurrent|messages)/,
      /(?:unusual|excessive|unexpected|high)(?: \S+)? (?:rate|volume|activity|unknown|number)/,
      /frequency(?: is)? limited|sending frequency/,
      /r[lp]-?0\d{2,}/,
      /server (?:is )?busy/,
    ],
  },
  {
    category: "AuthenticationFailed",
    phrases: [
      /dmarc|dkim|spf|sender policy framework|sender[- ]?id/,
      /(?:sender|mail|message|domain|not pass\w*|fail\w*|require\w*)(?: \S+){0,3} authentication(?! required)/,
      /authentication (?:information|checks?|results?|level|fail\w*|requirements)/,
      /(?:un|not )authenticated (?:e-?mail|mail|messages?|senders?)/,
      /r(?:everse)?-? ?dns|rdns|ptr|reverse (?:hostname|host|lookup|pointer|record)/,
      /find your(?: reverse)? (?:host ?name|address)|resolve your|name (?:lookup failed|possibly forged)/,
      /(?:helo|ehlo)(?: \S+){0,6} (?:reject\w*|invalid|denied|refused|not|bad|forged|banned|does|must)/,
      /(?:invalid|bad|forged|fake|wrong|rejected) (?:helo|ehlo)/,
      /invalid dns|(?:domain|address) (?:of|for) sender|required for sender/,
      /verif\w+ failed for|sender (?:address )?verif\w*|verify(?: \w+)? (?:return|sender|envelope)|callback/,
      /spoof\w*|forg(?:ed|ery)/,
      /not (?:a )?(?:permitted|allowed|authori[sz]ed|designated)(?: sender| to send)/,
      /not allow sending|permitted by the domain owner|doesn't allow sending/,
    ],
  },
  {
    category: "PolicyRejected",
    phrases: [
      /(?:sender|originator|return[- ]path|mail from)(?:'s)?(?: \w+){0,3}:? (?:\w+ )?(?:reject\w*|den(?:y|ies|ied)|refus\w+|block\w*|banned|invalid|unknown|unverified|not|n't|doesn't|has (?:no|null)|suspended|disabled|prohibited|limited)/,
      /(?:bad|invalid|unknown|fake|blocked|banned|denied|denies|restricted|rejected|unauthori[sz]ed|suspicious|suspected|untrusted)(?: \w+)? (?:the )?senders?/,
      /badmailfrom|black mail|only (?:accepts?|allows?|receives?)/,
    ],
  },
  {
    category: "Reputation",
    phrases: [
      /(?:black|block|deny|reject)[- ]?list\w*/,
      /rbl|dnsbl|[scxp]bl/,
      /(?<!not |n't )listed (?:in|by|on|at|with)/,
      /blocked (?:using|by|due to|because of|for|from)(?! (?:inactiv|recipient|the (?:user|recipient)))/,
      /(?:blocked|refused) - see|block for/,
      /reputation|banned/,
      phrase`${US}(?: \S+){0,3}(?: (?:is|was|has|have|been|are|were|temporarily|currently|permanently|not|will|be))* (?:block\w*|reject\w*|denied|refused|suspended|unauthori[sz]ed|accepted)`,
      /(?:black|blocked|bad|invalid|rejected|denied|dynamic) (?:ip|host|network|address range)/,
      /ip (?:address )?(?:is )?(?:hangup|in|on)/,
      /your (?:ip|isp|network|internet service provider|mail server|provider)/,
      /connections? (?:\w+ ){0,4}(?:accepted|rejected|refused|denied)/,
      /(?:accept|refus|reject|block|defer)\w*(?: \w+)? (?:(?:e-?)?mails?|messages?|connections?|traffic) from/,
      /(?:messages?|e-?mails?|traffic) from(?: \S+){1,3} (?:weren't|will|temporarily|not|is|are|was|were|has|have|reject\w*|block\w*|defer\w*)/,
      /mail from(?: \S+){1,3} (?:was|refused|rejected|blocked|denied|deferred)/,
      /spam (?:source|sender|host|server)|open relay|dial-?up|dynamic(?:ally)?|residential/,
      /aup#\S*|(?:con|dns|dyn|hvu|rly):\w\w|ofr 50\d|ers-(?:rbl|dul|qil)|(?:ts|tss|bl)\d{2,}/,
    ],
  },
  {
    category: "MailboxFull",
    phrases: [
      /(?:mail ?(?:box|drop|folder)|inbox|folder|account|user|storage|quota)(?: \w+){0,4} full/,
      /(?:mail ?box|account|user|recipient)(?: \w+){0,2} exceed\w*(?: \w+){0,3} (?:size|limit|space)/,
      /full (?:mail ?box|inbox)/,
      /over ?-?(?:\w+ )?quota|quota violation/,
      /quotas?(?: \w+){0,2} (?:exceed\w*|violat\w+|reached|full|exhausted)/,
      /(?:exceed\w*|reached|would exceed|over)(?: \S+){0,4} quota/,
      /(?:exceed\w*|exhausted|out of|insufficient|no|not enough|low on|reached)(?: (?!system|server)\w+){0,3} (?:storage|disk|disk space|space)/,
      /(?:mail ?box|storage|disk)(?: \w+)? (?:size|limit|allocation)(?: \w+){0,3} (?:exceed\w*|reached)/,
      /exceeded storage allocation/,
      /mail ?box (?:has )?(?:exceeded|reached)/,
      /too many (?:messages|mails|e-?mails) (?:on|in)/,
      /boite(?: \S+){0,4} pleine|quota depasse/,
      /postfach(?: \S+){0,3} voll|speicher\w*(?: \S+){0,2} u(?:e)?berschritten|mailbox vol/,
      /(?:buzon|casilla)(?: \S+){0,2} llen[oa]|cuota excedida/,
      /casella(?: \S+){0,3} piena|caixa(?: \S+){0,3} (?:cheia|lotada)|skrzynka(?: \S+){0,2} (?:pelna|przepelniona)/,
    ],
  },
  {
    category: "AttachmentRejected",
    phrases: [/attachments?|attached file|file (?:types?|extensions?|names?)|blocked extension|executable/],
  },
  {
    category: "MessageTooLarge",
    phrases: [
      /(?<!queue )too (?:large|big|long)/,
      /(?:message|mail|e-?mail|max\w*|fixed)(?: \w+)? size/,
      /size (?:limit|exceeds|exceeded)/,
      /exceeds?(?: \w+){0,5} size/,
      /larger than|databytes|mailsize/,
    ],
  },
  {
    category: "ContentRejected",
    phrases: [
      /(?:anti-? ?)?spam\w*|junk ?\w*|unsolicited|bulk|u[bc]e/,
      /virus\w*|malware|trojan|infected|worm|phish\w*|scam|suspicious\w*|content/,
      /(?:message|mail|e-?mail) (?:\w+ ){0,2}(?:filtered|contains|scored|looks|not rfc\S*|headers?)/,
      /(?:from|to|date|subject|message-id):? (?:e-?mail )?headers?/,
      /malformed|bare (?:lf|cr|line ?feeds?|newlines?)|message(?: \w+)? filtered/,
    ],
  },
  {
    category: "General",
    phrases: [
      /temporar(?:y|ily)|tim(?:ed|e) ?-?out|ldap(?: \w+)? (?:error|failed|failure)/,
      /(?:unverified|verification)(?: \w+)? (?:address|problem|failure)/,
      /loop\w*|too many hops|hop count|aliases deep/,
    ],
  },
  {
    category: "MailboxDisabled",
    phrases: [
      phrase`${RECIPIENT}${GAP}{0,6} (?:disabled|deactivated|inactive|suspend(?:ed)?|closed|terminated|discontinued|expired|frozen|hangup|cancell?ed|deleted|removed|retired|archived|not active)`,
      phrase`(?:disabled|inactive|deactivated|suspended|closed|expired|terminated|deleted|archived) ${RECIPIENT}`,
      phrase`${NOT_US}(?:user|account)${GAP}{0,3} locked`,
      phrase`${RECIPIENT}${GAP}{0,4} blocked due to inactivity`,
      /accountdisabled\w*/,
      /(?:usuario|cuenta|conta|casilla|konto)(?: \S+){0,6} (?:inactiv[oa]|inativ[oa]|expirad[oa]|nieaktywne)/,
    ],
  },
  {
    category: "NoEmail",
    phrases: [
      phrase`(?:unknown|no such|non-? ?exist(?:ent|ing)|invalid|illegal|incorrect|bad|undefined|unrecogni[sz]ed|unroute?able|undeliverable|unavailable)(?: or \w+)?${GAP}{0,2} ${RECIPIENT}`,
      phrase`${RECIPIENT}:?${GAP}{0,6} (?:unknown|non-?existent|inexistente?|invalid|undefined|misspelled|unroute?able|unrecogni[sz]ed)`,
      phrase`${RECIPIENT}:?${GAP}{0,6} (?:not|\w+n't|no longer) (?:found|known|exists?|valid|a valid|recogni[sz]ed|be found|in use)`,
      phrase`(?:no|not an?|isn't an?|not our)(?: \S+){0,2} (?:valid|known|local|registered|existing|current|active|our)(?: \S+)? ${RECIPIENT}`,
      phrase`no(?: \w+)? (?:mail ?box|account|recipient|customer|user)(?: \S+)? (?:here|by|with|for|at|available|on)`,
      /no (?:one|body)(?: \w+)? (?:at|by|with)/,
      /valid recipients/,
      /not our customer|not (?:a )?users? of/,
      /(?:doesn't|does not|don't) have an?(?: \S+)? (?:account|mail ?box)/,
      phrase`${RECIPIENT}${GAP}{0,4} no longer`,
      phrase`no longer (?:\w+ ){0,4}${RECIPIENT}|no longer (?:on|at|with|here|works|employed|available|valid|in use|active|an employee)`,
      /recip(?:ient)?notfound|usernotfound/,
      /(?:user|recipient|mail ?box|person) (?:has |is )?(?:moved|left)/,
      /not known here|(?:doesn't|does not|no longer) (?:live|reside)s? here|handle mail for|recipient verif(?:y|ication) failed/,
      phrase`(?:unable to|can ?not|could not|can't|couldn't) (?:find|locate|accept)(?: (?!your)\S+){0,2} ${RECIPIENT}`,
      /not (?:listed|found|known|present) (?:in|at|to|on)(?: \S+){0,3} (?:directory|address book|name list|site|system|server|database|table)/,
      /no mail ?box/,
      /unknown in (?:\w+ )?(?:\w+ )?(?:\w+ )?table|does not like recipient/,
      /(?:utilisateur|destinataire|adresse|compte)(?: \S+){0,5} (?:inconnue?|invalide|inexistante?)/,
      /boite(?: \S+){0,3} inexistante/,
      /n'existe pas|no existe|bestaat niet/,
      /(?:empfaenger|empfanger|adressat|benutzer|adresse|postfach|mailbox)(?: \S+){0,3} (?:unbekannt|existiert nicht|nicht (?:vorhanden|gefunden|bekannt))/,
      /unbekannter? (?:empfaenger|empfanger|benutzer)/,
      /(?:usuario|destinatario|direccion|cuenta|buzon|utente|indirizzo|casella|conta|endereco)(?: \S+){0,3} (?:desconocid[oa]|inexistente|inesistente|sconosciut[oa]|desconhecid[oa]|errat[oa]|no encontrad[oa]|non esist\w+|nao existe)/,
      /gebruiker onbekend|onbekende? gebruiker/,
      /nie (?:istnieje|znaleziono|ma takiego)|nieznany (?:uzytkownik|odbiorca|adres)/,
    ],
  },
  {
    category: "RelayDenied",
    phrases: [
      /relay(?:ing)?(?: \w+){0,2} (?:denied|not|prohibited|disallowed|blocked|rejected|refused|restricted)/,
      /(?:unable|not (?:permitted|allowed)|cannot|can't|don't|do not|denies|no|not|as a) (?:to )?(?:open )?relay(?:ing)?/,
      /relaying|rcpthosts|user not local/,
      /(?:domain|recipient)(?: \S+)? (?:is )?not (?:local|hosted|accepted here|handled)/,
    ],
  },
  // Exchange Online's words for an address that it does not know.
  { category: "NoEmail", codes: /^4\.1$/, phrases: [/access denied/] },
  {
    category: "General",
    phrases: [
      /service(?: is| currently| not| temporarily)* (?:unavailable|available|down|refused)/,
      /(?:server|system|internal|local|database|configuration|resource|lookup|dns)s?(?: \S+){0,2} (?:error|problem|failure|failed|busy|down|full|overloaded|unavailable|not accepting|insufficient)/,
      /insufficient (?:system|server)\w*/,
      /error in processing|resources|try (?:again|later)|retry|later|come back/,
      /lost connection|connection (?:dropped|lost|closed|reset)/,
      /(?:message|delivery)(?: \w+)* expired|delayed/,
      /upstream|out of memory/,
    ],
  },
  {
    category: "General",
    codes: NOT_ADDRESS_CODES,
    phrases: [
      /(?:host|domain)(?: \S+){0,3} (?:not found|unknown|not exist)/,
      /(?:no such|unknown|unroute?able) (?:mail )?(?:host|domain)/,
    ],
  },
  {
    category: "PolicyRejected",
    phrases: [
      /polic(?:y|ies)|mailpolicy|prohibit\w*|denied|deny|denies|blocked|ers-customized-block|refused|refuse|restrict\w*|security/,
      /white-? ?list\w*|allow(?:ed)?[- ]?list\w*|allowed senders?/,
      /filter\w*|forbidden|disallowed|violat\w+|doesn't want|does not want|unwanted|rejected by/,
    ],
  },
  {
    category: "NoEmail",
    codes: /^($|[0125]\.)/,
    phrases: [
      phrase`${RECIPIENT}${GAP}{0,2} (?:unavailable|not available)`,
      /mail ?box name not allowed|^[^a-z]*address rejected/,
    ],
  },
  {
    category: "PolicyRejected",
    codes: NOT_ADDRESS_CODES,
    phrases: [
      /not (?:authori[sz]ed|permitted|allowed|accepted|acceptable|accepting|wanted)/,
      /will not accept/,
      /(?:message|mail|e-?mail) (?:\w+ ){0,2}(?:rejected|refused|discarded|bounced)/,
    ],
  },
  {
    category: "ProtocolError",
    codes: NOT_ADDRESS_CODES,
    phrases: [
      /syntax|command(?: \S+)? (?:not|un)\w*/,
      /(?:bad|out of) sequence|protocol|parameters?|starttls|tls|ssl|encrypt\w*|auth\w*|smtputf8|8bitmime/,
    ],
  },
];

/** The rules in the order they are tried, each as one expression. */
export const TEXT_RULES = RULES.map(({ phrases, codes = /^/, ...meaning }) => ({
  ...meaning,
  codes,
  text: new RegExp(String.raw`(?<!\w)(?:${phrases.map(({ source }) => source).join("|")})(?!\w)`),
}));

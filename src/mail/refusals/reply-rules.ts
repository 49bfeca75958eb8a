/**
 * The meaning of the texts of replies. A rule is about a kind of sentence, not about one provider's text. The order of
 * the rules makes them safe: rules about us (our address, domain, rate or message) come before rules about the
 * recipient, because a recipient who is suppressed by mistake gets no more mail.
 */

import { AMBIGUOUS } from "./ambiguous-phrases.ts";
import {
  CONNECTION_FAULT,
  CONNECTION_LOST,
  CONNECTION_POLICY,
  NAME_SERVER_FAULT,
  NO_SUCH_DOMAIN,
} from "./network-phrases.ts";
import {
  BLOCKED_SENDER,
  CLOSED_MAILBOX,
  FULL_MAILBOX,
  REFUSED,
  SENDER_FAULT,
  TEMPORARY_FAILURE,
  UNKNOWN_ADDRESS,
  UNWANTED_CONTENT,
} from "./phrases-by-language.ts";
import { BLOCK_LIST_MARK, LINK_MARK, SENDER_PAGE_MARK } from "./replace-links.ts";
import type { ReplyMeaning } from "./reply-codes.ts";

interface TextRule extends ReplyMeaning {
  /** Patterns for lower-case text without accents (see normalize-reply-text.ts); each matches whole words. */
  readonly phrases: readonly RegExp[];
  /** The rule applies only to these enhanced codes (subject and detail, "" without a code). */
  readonly codes?: RegExp;
  /** The rule does not apply if the text also matches this. */
  readonly unless?: RegExp;
  /** The rule applies only to bounce messages: their own findings, and replies that they quote. */
  readonly isReportOnly?: boolean;
  /** The rule applies only if no reply code is quoted: the words are those of the system that tried to connect. */
  readonly isReplyless?: boolean;
}

/** Builds a pattern from others. */
function phrase({ raw }: TemplateStringsArray, ...parts: RegExp[]): RegExp {
  return new RegExp(String.raw({ raw }, ...parts.map((part) => part.source)));
}

/** The word before shows that the phrase is not about this service. */
const NOT_US =
  /(?<!-)(?<!\b(?:ip|your|sender|sender's|sending|from|source|client|return|reply|reverse|envelope)(?: (?:e-?)?mail)? )/;
const RECIPIENT = phrase`${NOT_US}(?:mail ?(?:box|drop)|(?:e-?mail )?(?:user|account|recipient|alias)(?:es|s)?|(?:e-?)?mail ?address|e-?mail|address(?:ee|es)?|rcpt(?: to)?|person|local[- ]part|login|user ?id)`;
/** One word between the recipient and the verb. */
const GAP =
  /(?: (?!ip\b|sender|sending|from\b|source|client|return|reverse|helo|ehlo|envelope|domain|host|in\b|\d)\S+)/;
const US =
  /(?:client(?: host)?|connection|ip(?: address)?|network|(?:your|sending)(?: mail)? (?:server|domain))/;
/** All enhanced codes except those about addresses, which are more specific than such vague words. */
const NOT_ADDRESS_CODES = /^(?!1\.)/;

/** Parts of a message that may be too many, too long or nested too deep. */
const CONTENT =
  /(?:hyper-?)?links?|ur[li]s?|attach\w*|attached|mime|body ?parts?|parts|multiparts?|nest\w*|levels?|depth|headers?|lines?|images?|pictures?|characters?|chars|words|addresses in|recipients? (?:\w+ )?(?:in|listed in|on)(?: \S+){0,2} (?:headers?|to|cc|bcc|fields?|lines?)|(?:to|cc|to\/cc):? (?:recipients|addresses|fields?)|html|tags|exclamation\w*|capitals?|punctuation|octets|encod\w+/;

/** Words around a link that do not name the fault. */
const ABOUT_LINK =
  "(?:please|for|more|further|details?|information|explanation|help|see|visit|refer to|go to|at|error|smtp|rejected|refused)";

const RULES: readonly TextRule[] = [
  { category: "Reputation", phrases: [new RegExp(BLOCK_LIST_MARK)] },
  {
    category: "Undetermined",
    unless: /spf|dkim|dmarc|\bspam|reputation|(?:black|block)-? ?list|\bip\b/,
    phrases: AMBIGUOUS,
  },
  { category: "General", phrases: CONNECTION_FAULT, unless: CONNECTION_POLICY },
  { category: "General", phrases: CONNECTION_LOST, codes: /^4\.[1-7]\d*$/, unless: CONNECTION_POLICY },
  { category: "General", phrases: CONNECTION_LOST, isReplyless: true, unless: CONNECTION_POLICY },
  { category: "General", phrases: NAME_SERVER_FAULT },
  // A limit on the content of a message is not a limit on the number of messages.
  {
    category: "ContentRejected",
    phrases: [
      phrase`too (?:many|much)(?: (?!messages|mails|e-?mails|connections|invalid|errors?|unknown|recipients (?!in|on|listed|\w+ in))\S+){0,3}? ${CONTENT}`,
      phrase`(?:excessive|max\w*|limit\w*|exceed\w*|allowed|high)(?: (?:number|count|amount|of|the|for|on|in|a|total|maximum|allowed|permitted|limits?|message|mail|configured|our)){0,6} ${CONTENT}`,
      phrase`${CONTENT}(?: \S+){0,3} (?:too (?:long|deep\w*|many|large)|limit|length|exceed\w*|per (?:message|mail|e-?mail)|longer than)`,
      /too deep\w*(?: nested)?|nested too|longer than \d+|(?:line|header)s? (?:is |are )?(?:too )?long/,
    ],
    unless:
      /(?<!attach\w*)(?<!file)(?:\b|too )(?:size|quota|hops?|received)|\bcommand|\bsyntax|per (?:hour|day|minute|second)|connections?|\brates?\b|mail ?box|queue/,
  },
  { category: "Greylisted", phrases: [/gr[ae]y-? ?list\w*/] },
  {
    category: "RateLimited",
    scope: "recipient",
    phrases: [
      /user you are trying to contact (?:is|has been) (?:currently )?receiving|recipient (?:has )?exceeded(?!.* (?:quota|storage|space))|recipient (?:thread )?limit/,
      /too many recent messages|too many recipients/,
    ],
  },
  {
    category: "RateLimited",
    phrases: [
      /(?:message |sending |receiving |mail )?rate ?-?limit\w*/,
      /rate (?:control|exceeded)|throttl\w*/,
      /too many (?!hops|received|aliases|(?:e-?)?(?:mails?|messages) (?:on|in) )\w+/,
      /too (?:fast|quickly|frequent(?:ly)?|often|much (?:e-?)?mail(?! (?:is )?(?:stored|in)))/,
      /(?:daily|hourly|sending|submission|outgoing|outbound|queue|message|connection|thread) (?:(?!size)\w+ )?(?:quota|limit)/,
      /(?:exceed\w*|limit|max\w*|reached)(?: (?!size)\S+){0,5} (?:per (?:hour|day|minute|second)|hourly|connections?|concurrent|messages)/,
      /(?:unusual|excessive|unexpected|high)(?: \S+)? (?:rate|volume|activity|unknown|number)/,
      /frequency(?: is)? limited|sending frequency/,
      /r[lp]-?0\d{2,}|trop de (?:connexions|messages|mails)|trop (?:vite|rapidement)|zu (?:viele (?:verbindungen|nachrichten|e-?mails)|schnell|haufig)|demasiad[oa]s (?:conexiones|mensajes|correos)|demasiado rapido|tropp[ie] (?:connessioni|messaggi|e-?mail)|muit[ao]s (?:conexoes|mensagens)|te veel (?:verbindingen|berichten)|zbyt (?:wiele|duzo) (?:polaczen|wiadomosci)|слишком (?:много (?:соединений|писем|сообщений)|часто)|(?:发送|發送)[^。.]{0,6}频率|频率(?:过高|限制)|連接過多|连接过多/,
      /server (?:is )?busy/,
      /(?:max\w*|limit\w*|exceed\w*|number of|count of)(?: \S+){0,4} (?:invalid|unknown|bad|non-?exist[ae]nt|wrong) (?:recipients|users|addresses|rcpts)/,
      /(?:invalid|unknown|bad|wrong) (?:recipients?|users?|address(?:es)?|rcpts?) (?:\w+ )?(?:limit|exceed\w*|count|rate|ratio|threshold)|directory harvest\w*|harvest(?:ing)? attack\w*/,
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
      /(?:helo|ehlo)(?: \S+){0,6} (?:reject\w*|invalid|unknown|denied|refused|not|bad|forged|banned|does|must)/,
      /(?:invalid|bad|forged|fake|wrong|rejected|unknown)(?: \w+)? (?:helo|ehlo)/,
      /(?:client|your|sending|source)(?: mail)? (?:host ?(?:name)?|domain|server)(?: \S+){0,3} (?:unknown|has no (?:mx|a|mail)|(?:does not|doesn't) exist|not found)/,
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
      /badmailfrom|black mail|(?:suspended|disabled|blocked|locked|restricted) for (?:the )?(?:sender|sending)|not (?:found )?(?:in|on) (?:the |our |an? )?(?:allowed|allow|permitted|approved|authori[sz]ed|access|safe)(?: \w+)?[ -]?lists?|only (?:accepts?|allows?|receives?)/,
      /members[- ]only|subscribers[- ]only|only (?:\w+ )?(?:members|subscribers)|(?:not|n't) an? (?:\w+ )?(?:member|subscriber)/,
      SENDER_FAULT,
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
      phrase`${US}(?: \S+){0,3}(?: (?:is|was|has|have|been|are|were|temporarily|currently|permanently|not|will|be))* (?:block\w*|reject\w*|denied|refused|suspended|unauthori[sz]ed|accepted|allowed|permitted|welcome)`,
      /(?:black|blocked|bad|invalid|rejected|denied|dynamic) (?:ip|host|network|address range)/,
      /ip (?:address )?(?:is )?(?:hangup|in|on)/,
      /your (?:ip|isp|network|internet service provider|mail server|provider)/,
      /connections? (?:\w+ ){0,4}(?:accepted|rejected|refused|denied)/,
      /(?:accept|refus|reject|block|defer)\w*(?: \w+)? (?:(?:e-?)?mails?|messages?|connections?|traffic) from/,
      /(?:messages?|e-?mails?|traffic) from(?: \S+){1,3} (?:weren't|will|temporarily|not|is|are|was|were|has|have|reject\w*|block\w*|defer\w*)/,
      /mail from(?: \S+){1,3} (?:was|refused|rejected|blocked|denied|deferred)/,
      /spam (?:source|sender|host|server)|open relay|dial-?up|dynamic(?:ally)?|residential/,
      /aup#\S*|(?:con|dns|dyn|hvu|rly):\w\w|ers-(?:rbl|dul|qil)|(?:ts|tss|ipts|bl|hm)-?\d{2,}/,
      /(?:ofr|lpn)\d* (?:10\d|4(?!1[5-8])\d\d|5\d\d|999)|(?:sc|dy|ou)-00\d|s31[45]0|cx(?:bl|sndr|drt|cnct|mjr)|hl:[a-z]{3}/,
      /a problem occurred(?:\.? \S+){0,16} bl|sbrs|spamhaus|spamcop|sorbs|uceprotect\S*|barracuda(?:central| reputation)|senderbase|sender ?score|backscatterer|invaluement|ivmsip|hostkarma|nix ?spam|abusix|lashback|mailspike|spamrats|cloudmark sender intelligence/,
      /(?:(?:on|in|by|at|from) (?:the |our |a |an )?(?:\S+ )?|ip )(?:rbl|dnsbl|bl)|(?:is|are|been|was|currently|still) listed(?! (?:below|above|here|as (?:a )?(?:valid|recipient)))/,
      ...BLOCKED_SENDER,
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
      ...FULL_MAILBOX,
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
      /(?:dt|mi|rp):(?:sp[bm]|dmc|imf|nhd|stc|cel|sum|sfq|trc|drc|qrc)|non-? ?compliant/,
      ...UNWANTED_CONTENT,
    ],
  },
  {
    category: "General",
    phrases: [
      /temporar(?:y|ily)|tim(?:ed|e) ?-?out|(?:try again|retry|come back) later|ldap(?: \w+)? (?:error|failed|failure)/,
      /(?:unverified|verification)(?: \w+)? (?:address|problem|failure)/,
      /(?:unable to|can ?not|could not|can't|couldn't) verify (?:the |this |that )?(?:recipient|address|user|mail ?box)/,
      /loop\w*|too many (?:hops|received)|hop count|aliases deep/,
      ...TEMPORARY_FAILURE,
    ],
  },
  // Posthaste sends only from domains that exist, so the missing domain is the recipient's.
  { category: "NoEmail", phrases: NO_SUCH_DOMAIN, codes: /^($|0\.0|[14]\.\d+)$/, isReportOnly: true },
  {
    category: "MailboxDisabled",
    phrases: [
      phrase`${RECIPIENT}${GAP}{0,6} (?:disabled|deactivated|inactive|suspend(?:ed)?|closed|terminated|discontinued|expired|frozen|hangup|cancell?ed|deleted|removed|retired|archived|not active)`,
      phrase`(?:disabled|inactive|deactivated|suspended|closed|expired|terminated|deleted|archived) ${RECIPIENT}`,
      phrase`${NOT_US}(?:user|account)${GAP}{0,3} locked`,
      phrase`${RECIPIENT}${GAP}{0,4} blocked due to inactivity`,
      /accountdisabled\w*/,
      ...CLOSED_MAILBOX,
    ],
  },
  {
    category: "NoEmail",
    phrases: [
      phrase`(?:unknown|no such|non-? ?exist(?:[ae]nt|ing)|invalid|illegal|incorrect|bad|undefined|unrecogni[sz]ed|unroute?able|undeliverable|unavailable)(?: or \w+)?${GAP}{0,2} ${RECIPIENT}`,
      phrase`${RECIPIENT}:?${GAP}{0,6} (?:unknown|non-?exist[ae]nt|inexistente?|invalid|undefined|misspelled|unroute?able|unrecogni[sz]ed)`,
      phrase`${RECIPIENT}:?${GAP}{0,6} (?:not|\w+n't|no longer) (?:found|known|exists?|valid|a valid|recogni[sz]ed|be found|in use)`,
      phrase`(?:no|not an?|isn't an?|not our)(?: \S+){0,2} (?:valid|known|local|registered|existing|current|active|our)(?: \S+)? ${RECIPIENT}`,
      phrase`no(?: \w+)? (?:mail ?box|account|recipient|customer|user)(?: \S+)? (?:here|by|with|for|at|available|on)`,
      /no (?:one|body)(?: \w+)? (?:at|by|with)/,
      /valid recipients/,
      /(?<!\b(?:page|file|host|server|route|key|record|message|policy) )(?:was not|wasn't|could not be|couldn't be) found (?:at|in) \S+\.[a-z]{2,}/,
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
      ...UNKNOWN_ADDRESS,
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
  // Exchange Online's words for an unknown address.
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
      /(?:ph|cs)\d\d/,
      ...REFUSED,
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
  { category: "Reputation", phrases: [new RegExp(SENDER_PAGE_MARK)] },
  // A code with nothing but a link does not prove an unknown user.
  {
    category: "Undetermined",
    phrases: [
      new RegExp(`^[\\d .:;#-]*(?:${ABOUT_LINK}[ .,:;-]*)*${LINK_MARK}(?:[ .,:;-]*${ABOUT_LINK})*\\W*$`),
    ],
  },
];

/** The rules in order, each with one combined pattern. */
const TEXT_RULES = RULES.map(({ phrases, codes = /^/, ...rule }) => ({
  ...rule,
  codes,
  text: new RegExp(String.raw`(?<!\w)(?:${phrases.map(({ source }) => source).join("|")})(?!\w)`, "u"),
}));

/** The text of a reply with what else the rules depend on. */
export interface ReplyWords {
  readonly words: string;
  /** Subject and detail of the enhanced code, "" without one. */
  readonly detail: string;
  readonly isReport: boolean;
  /** The reply code of a server is known. */
  readonly hasReply: boolean;
}

/** The meaning of a reply's text; null if no rule matches. */
export function meaningOfWords({ words, detail, isReport, hasReply }: ReplyWords): ReplyMeaning | null {
  const rule = TEXT_RULES.find(
    ({ codes, text, unless, isReportOnly = false, isReplyless = false }) =>
      (isReport || !isReportOnly) &&
      !(hasReply && isReplyless) &&
      codes.test(detail) &&
      text.test(words) &&
      unless?.test(words) !== true,
  );
  return rule ?? null;
}

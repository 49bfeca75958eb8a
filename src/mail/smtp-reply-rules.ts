/**
 * What receivers mean by their refusals, as data for smtp-reply.ts: what each kind of refusal leads to, what enhanced
 * status codes mean (RFC 3463, the IANA registry and the large providers' own numbers), and what words mean.
 *
 * Rules are about the kind of sentence, not about one provider's text. Their order carries the safety: whatever speaks
 * of us (our address, our domain, our rate, our message) stands before whatever speaks of the recipient, because a
 * recipient that is suppressed by mistake hears from nobody any more.
 */

/** Amazon SES's vocabulary (General … Undetermined) and what it has no word for. */
export type BounceCategory =
  | "General"
  | "NoEmail"
  | "MailboxDisabled"
  | "MailboxFull"
  | "MessageTooLarge"
  | "ContentRejected"
  | "AttachmentRejected"
  | "Undetermined"
  | "AuthenticationFailed"
  | "Reputation"
  | "RateLimited"
  | "Greylisted"
  | "PolicyRejected"
  | "RelayDenied"
  | "ProtocolError";

/** hard: the address is at fault; soft: its mailbox or system; block: they refuse us or the message; ours: our fault. */
export type BounceClass = "hard" | "soft" | "block" | "ours";

/** What a refusal concerns: this recipient's message, or everything we send to this mailbox provider. */
export type ReplyScope = "recipient" | "lane";

export const CLASS_OF: Readonly<Record<BounceCategory, BounceClass>> = {
  General: "soft",
  NoEmail: "hard",
  MailboxDisabled: "hard",
  MailboxFull: "soft",
  MessageTooLarge: "block",
  ContentRejected: "block",
  AttachmentRejected: "block",
  Undetermined: "soft",
  AuthenticationFailed: "block",
  Reputation: "block",
  RateLimited: "block",
  Greylisted: "block",
  PolicyRejected: "block",
  RelayDenied: "soft",
  ProtocolError: "ours",
};

/** Categories that concern the lane unless the rule says otherwise. */
export const LANE_CATEGORIES: ReadonlySet<BounceCategory> = new Set(["Reputation", "RateLimited"]);

export interface Meaning {
  readonly category: BounceCategory;
  readonly scope?: ReplyScope;
}

/** Subject and detail of an enhanced code that mean the same whoever writes them: no text can change it. */
export const DECISIVE_CODES: readonly (Meaning & { readonly codes: RegExp })[] = [
  { category: "NoEmail", codes: /^(1\.10|7\.1[78])$/ },
  { category: "MailboxDisabled", codes: /^7\.13$/ },
  { category: "MailboxFull", codes: /^2\.2$/ },
  { category: "MessageTooLarge", codes: /^3\.4$/ },
  { category: "RateLimited", scope: "recipient", codes: /^2\.12[12]$/ },
  { category: "RateLimited", codes: /^7\.(28|500|650)$/ },
  { category: "AuthenticationFailed", codes: /^(1\.[78]|7\.(2[0-79]|509|51[256]))$/ },
  { category: "PolicyRejected", codes: /^7\.50[4-7]$/ },
  { category: "Reputation", codes: /^7\.(5[0-5]\d|6\d\d|7\d\d)$/ },
];

/** What an enhanced code means as long as the text says nothing else. */
export const PRESUMED_CODES: readonly (Meaning & { readonly codes: RegExp })[] = [
  { category: "NoEmail", codes: /^(1\.[1236]|4\.310)$/ },
  { category: "MailboxDisabled", codes: /^2\.1$/ },
  { category: "MessageTooLarge", codes: /^2\.3$/ },
  { category: "RateLimited", scope: "recipient", codes: /^5\.3$/ },
  { category: "General", codes: /^([34]\.\d+|2\.4)$/ },
  { category: "ProtocolError", codes: /^(5\.[1-9]\d*|7\.([89]|1[01]))$/ },
  { category: "ContentRejected", codes: /^6\.\d+$/ },
  { category: "PolicyRejected", codes: /^7\.\d+$/ },
];

/** What a basic code means when nothing else is known; other 4xx are General, other 5xx Undetermined. */
export const BASIC_CODES: readonly (Meaning & { readonly codes: RegExp })[] = [
  { category: "ProtocolError", codes: /^(50\d|52[34]|53\d|555)$/ },
  { category: "MailboxFull", codes: /^552$/ },
];

/** Who a refusal can be about, unless the word before says it is us. */
const NOT_US = String.raw`(?<!-)(?<!\b(?:ip|your|sender|sender's|sending|from|source|client|return|reply|reverse|envelope)(?: (?:e-?)?mail)? )`;
const RECIPIENT = `${NOT_US}(?:mail ?(?:box|drop)|(?:e-?mail )?(?:user|account|recipient|alias)(?:es|s)?|(?:e-?)?mail ?address|e-?mail|address(?:ee|es)?|rcpt(?: to)?|person|local[- ]part|login)`;
const GAP = String.raw`(?: (?!ip\b|sender|sending|from\b|source|client|return|reverse|helo|ehlo|envelope|domain|host|in\b|\d)\S+)`;
const US = String.raw`(?:client(?: host)?|connection|ip(?: address)?|network|(?:your|sending)(?: mail)? (?:server|domain))`;

/** One kind of sentence. Phrases are regular expressions on lower-case text without accents, between word borders. */
interface TextRule extends Meaning {
  readonly phrases: readonly string[];
  /** Applies only with these enhanced codes (subject and detail; "" is none). */
  readonly codes?: RegExp;
}

const TEXT_RULES: readonly TextRule[] = [
  { category: "Greylisted", phrases: ["gr[ae]y-? ?list\\w*"] },
  {
    category: "RateLimited",
    scope: "recipient",
    phrases: [
      "user you are trying to contact",
      "recipient (?:has )?exceeded",
      "recipient thread limit",
      "too many recent messages",
      "too many recipients",
    ],
  },
  {
    category: "RateLimited",
    phrases: [
      "(?:message |sending |receiving |mail )?rate ?-?limit\\w*",
      "rate (?:control|exceeded)",
      "throttl\\w*",
      "too many (?!hops|aliases|(?:e-?)?(?:mails?|messages) (?:on|in) )\\w+",
      "too (?:fast|quickly|frequent(?:ly)?|often|much (?:e-?)?mail)",
      "(?:daily|hourly|sending|submission|outgoing|outbound|queue|message|connection|recipient|thread) (?:\\w+ )?(?:quota|limit)",
      "(?:exceed\\w*|limit|max\\w*|reached)(?: \\S+){0,5} (?:per (?:hour|day|minute|second)|hourly|connections?|concurrent|messages)",
      "(?:unusual|excessive|unexpected|high)(?: \\S+)? (?:rate|volume|activity|unknown|number)",
      "frequency(?: is)? limited",
      "sending frequency",
      "r[lp]-?0\\d{2,}",
      "server (?:is )?busy",
    ],
  },
  {
    category: "AuthenticationFailed",
    phrases: [
      "dmarc",
      "dkim",
      "spf",
      "sender policy framework",
      "sender[- ]?id",
      "(?:sender|mail|message|domain|not pass\\w*|fail\\w*|require\\w*)(?: \\S+){0,3} authentication(?! required)",
      "authentication (?:information|checks?|results?|level|fail\\w*|requirements)",
      "(?:un|not )authenticated (?:e-?mail|mail|messages?|senders?)",
      "r(?:everse)?-? ?dns",
      "(?:fc)?rdns",
      "ptr",
      "reverse (?:hostname|host|lookup|pointer|record)",
      "find your(?: reverse)? (?:host ?name|address)",
      "resolve your",
      "name (?:lookup failed|possibly forged)",
      "(?:helo|ehlo)(?: \\S+){0,6} (?:reject\\w*|invalid|denied|refused|not|bad|forged|banned|does|must)",
      "(?:invalid|bad|forged|fake|wrong|rejected) (?:helo|ehlo)",
      "invalid dns",
      "(?:domain|address) (?:of|for) sender",
      "required for sender",
      "verif\\w+ failed for",
      "sender (?:address )?verif\\w*",
      "callback",
      "spoof\\w*",
      "forg(?:ed|ery)",
      "not (?:a )?(?:permitted|allowed|authori[sz]ed|designated)(?: sender| to send)",
      "not allow sending",
      "permitted by the domain owner",
      "doesn't allow sending",
    ],
  },
  {
    category: "PolicyRejected",
    phrases: [
      "(?:sender|originator|return[- ]path|mail from)(?:'s)?(?: \\w+){0,3}:? (?:\\w+ )?(?:reject\\w*|den(?:y|ies|ied)|refus\\w+|block\\w*|banned|invalid|unknown|unverified|not|n't|doesn't|has (?:no|null)|suspended|disabled|prohibited|limited)",
      "(?:bad|invalid|unknown|fake|blocked|banned|denied|denies|restricted|rejected|unauthori[sz]ed|suspicious|suspected|untrusted)(?: \\w+)? (?:the )?senders?",
      "badmailfrom",
      "black mail",
      "only (?:accepts?|allows?|receives?)",
    ],
  },
  {
    category: "Reputation",
    phrases: [
      "(?:black|block|deny|reject)[- ]?list\\w*",
      "rbl|dnsbl|[scxp]bl",
      "(?<!not |n't )listed (?:in|by|on|at|with)",
      "blocked (?:using|by|due to|because of|for|from)(?! (?:inactiv|recipient|the (?:user|recipient)))",
      "(?:blocked|refused) - see",
      "block for",
      "reputation",
      "banned",
      `${US}(?: \\S+){0,3}(?: (?:is|was|has|have|been|are|were|temporarily|currently|permanently|not|will|be))* (?:block\\w*|reject\\w*|denied|refused|suspended|unauthori[sz]ed|accepted)`,
      "(?:black|blocked|bad|invalid|rejected|denied|dynamic) (?:ip|host|network|address range)",
      "ip (?:address )?(?:is )?(?:hangup|in|on)",
      "your (?:ip|isp|network|internet service provider|mail server|provider)",
      "connections? (?:\\w+ ){0,4}(?:accepted|rejected|refused|denied)",
      "(?:accept|refus|reject|block|defer)\\w*(?: \\w+)? (?:(?:e-?)?mails?|messages?|connections?|traffic) from",
      "(?:messages?|e-?mails?|traffic) from(?: \\S+){1,3} (?:weren't|will|temporarily|not|is|are|was|were|has|have|reject\\w*|block\\w*|defer\\w*)",
      "mail from(?: \\S+){1,3} (?:was|refused|rejected|blocked|denied|deferred)",
      "spam (?:source|sender|host|server)",
      "open relay",
      "dial-?up|dynamic(?:ally)?|residential",
      "aup#\\S*",
      "(?:con|dns|dyn|hvu|rly):\\w\\w",
      "ofr 50\\d",
      "ers-(?:rbl|dul|qil)",
      "(?:ts|tss|bl)\\d{2,}",
    ],
  },
  {
    category: "MailboxFull",
    phrases: [
      "(?:mail ?box|inbox|folder|mail ?drop|account|user|storage|quota)(?: \\w+){0,4} full",
      "full (?:mail ?box|inbox)",
      "over ?-?(?:\\w+ )?quota",
      "quotas?(?: \\w+){0,2} (?:exceed\\w*|violat\\w+|reached|full|exhausted)",
      "quota (?:violation|exceeded|exceeds|reached)",
      "(?:exceed\\w*|reached|would exceed|over)(?: \\S+){0,4} quota",
      "(?:exceed\\w*|exhausted|out of|insufficient|no|not enough|low on|reached)(?: (?!system|server)\\w+){0,3} (?:storage|disk|disk space|space)",
      "(?:mail ?box|storage|disk)(?: \\w+)? (?:size|limit|allocation)(?: \\w+){0,3} (?:exceed\\w*|reached)",
      "exceeded storage allocation",
      "mail ?box (?:has )?(?:exceeded|reached)",
      "too many (?:messages|mails|e-?mails) (?:on|in)",
      "boite(?: \\S+){0,4} pleine",
      "quota depasse",
      "postfach(?: \\S+){0,3} voll",
      "speicher\\w*(?: \\S+){0,2} u(?:e)?berschritten",
      "mailbox vol",
      "(?:buzon|casilla)(?: \\S+){0,2} llen[oa]",
      "cuota excedida",
      "casella(?: \\S+){0,3} piena",
      "caixa(?: \\S+){0,3} (?:cheia|lotada)",
      "skrzynka(?: \\S+){0,2} (?:pelna|przepelniona)",
    ],
  },
  {
    category: "AttachmentRejected",
    phrases: [
      "attachments?",
      "attached file",
      "file (?:types?|extensions?|names?)",
      "blocked extension",
      "executable",
    ],
  },
  {
    category: "MessageTooLarge",
    phrases: [
      "too (?:large|big|long)",
      "(?:message|mail|e-?mail|max\\w*|fixed)(?: \\w+)? size",
      "size (?:limit|exceeds|exceeded)",
      "exceeds?(?: \\w+){0,5} size",
      "larger than",
      "databytes",
      "mailsize",
    ],
  },
  {
    category: "ContentRejected",
    phrases: [
      "(?:anti-? ?)?spam\\w*",
      "junk ?\\w*",
      "unsolicited",
      "bulk",
      "u[bc]e",
      "virus\\w*|malware|trojan|infected|worm",
      "phish\\w*",
      "scam",
      "suspicious\\w*",
      "content",
      "(?:message|mail|e-?mail) (?:\\w+ ){0,2}(?:filtered|contains|scored|looks|not rfc\\S*|headers?)",
      "(?:from|to|date|subject|message-id):? (?:e-?mail )?headers?",
      "malformed",
      "bare (?:lf|cr|line ?feeds?|newlines?)",
      "message(?: \\w+)? filtered",
    ],
  },
  {
    category: "General",
    phrases: [
      "temporar(?:y|il(?:y|li))(?!.*(?:try|check)ing)",
      "(?:unverified|verification)(?: \\w+)? (?:address|problem|failure)",
      "hop count|too many hops|\\w+ loops?(?: \\w+)?|loops? back|looping|aliases deep",
    ],
  },
  {
    category: "MailboxDisabled",
    phrases: [
      `${RECIPIENT}${GAP}{0,6} (?:disabled|deactivated|inactive|suspend(?:ed)?|closed|terminated|discontinued|expired|frozen|hangup|cancell?ed|deleted|removed|retired|archived|not active)`,
      `(?:disabled|inactive|deactivated|suspended|closed|expired|terminated|deleted|archived) ${RECIPIENT}`,
      `${NOT_US}(?:user|account)${GAP}{0,3} locked`,
      `${RECIPIENT}${GAP}{0,4} blocked due to inactivity`,
      "accountdisabled\\w*",
      "(?:usuario|cuenta|conta|casilla|konto)(?: \\S+){0,6} (?:inactiv[oa]|inativ[oa]|expirad[oa]|nieaktywne)",
    ],
  },
  {
    category: "NoEmail",
    phrases: [
      `(?:unknown|no such|non-? ?exist(?:ent|ing)|invalid|illegal|incorrect|bad|undefined|unrecogni[sz]ed|unroute?able|undeliverable|unavailable)(?: or \\w+)?${GAP}{0,2} ${RECIPIENT}`,
      `${RECIPIENT}:?${GAP}{0,6} (?:unknown|not found|not known|(?:not|\\w+n't|no longer) exists?|nonexistent|non-existent|invalid|unrecogni[sz]ed|not recogni[sz]ed|not (?:a )?valid|isn't valid|not be found|couldn't be found|can't be found|misspelled|unroute?able|undefined|inexistente?|not in use)`,
      `(?:no|not an?|isn't an?|not our)(?: \\S+){0,2} (?:valid|known|local|registered|existing|current|active|our)(?: \\S+)? ${RECIPIENT}`,
      `no(?: \\w+)? (?:mail ?box|account|recipient|customer|user)(?: \\S+)? (?:here|by|with|for|at|available|on)`,
      "no (?:one|body)(?: \\w+)? (?:at|by|with)",
      "valid recipients",
      "not our customer",
      "not (?:a )?users? of",
      "(?:doesn't|does not|don't) have an?(?: \\S+)? (?:account|mail ?box)",
      `${RECIPIENT}${GAP}{0,4} no longer`,
      `no longer (?:\\w+ ){0,4}${RECIPIENT}|no longer (?:on|at|with|here|works|employed|available|valid|in use|active|an employee)`,
      "recip(?:ient)?notfound|usernotfound",
      "(?:user|recipient|mail ?box|person) (?:has |is )?(?:moved|left)",
      "not known here",
      "handle mail for",
      "recipient verif(?:y|ication) failed",
      `(?:unable to|can ?not|could not|can't|couldn't) (?:find|locate|accept)(?: (?!your)\\S+){0,2} ${RECIPIENT}`,
      "not (?:listed|found|known|present) (?:in|at|to|on)(?: \\S+){0,3} (?:directory|address book|name list|site|system|server|database|table)",
      "no mail ?box",
      "unknown in (?:\\w+ )?(?:\\w+ )?(?:\\w+ )?table",
      "(?:undeliverable|unroute?able) (?:address|recipient)",
      "does not like recipient",
      "(?:utilisateur|destinataire|adresse|compte)(?: \\S+){0,5} (?:inconnue?|invalide|inexistante?)",
      "boite(?: \\S+){0,3} inexistante",
      "n'existe pas|no existe|bestaat niet",
      "(?:empfaenger|empfanger|adressat|benutzer|adresse|postfach|mailbox)(?: \\S+){0,3} (?:unbekannt|existiert nicht|nicht (?:vorhanden|gefunden|bekannt))",
      "unbekannter? (?:empfaenger|empfanger|benutzer)",
      "(?:usuario|destinatario|direccion|cuenta|buzon|utente|indirizzo|casella|conta|endereco)(?: \\S+){0,3} (?:desconocid[oa]|inexistente|inesistente|sconosciut[oa]|desconhecid[oa]|errat[oa]|no encontrad[oa]|non esist\\w+|nao existe)",
      "gebruiker onbekend|onbekende? gebruiker",
      "nie (?:istnieje|znaleziono|ma takiego)|nieznany (?:uzytkownik|odbiorca|adres)",
    ],
  },
  { category: "NoEmail", codes: /^4\.1$/, phrases: ["access denied"] },
  {
    category: "RelayDenied",
    phrases: [
      "relay(?:ing)?(?: \\w+){0,2} (?:denied|not|prohibited|disallowed|blocked|rejected|refused|restricted)",
      "(?:unable|not (?:permitted|allowed)|cannot|can't|don't|do not|denies|no|not|as a) (?:to )?(?:open )?relay(?:ing)?",
      "relaying",
      "rcpthosts",
      "user not local",
      "(?:domain|recipient)(?: \\S+)? (?:is )?not (?:local|hosted|accepted here|handled)",
    ],
  },
  {
    category: "General",
    phrases: [
      "service(?: is| currently| not| temporarily)* (?:unavailable|available|down|refused)",
      "(?:server|system|internal|local|database|configuration|resource|lookup|dns)s?(?: \\S+){0,2} (?:error|problem|failure|failed|busy|down|full|overloaded|unavailable|not accepting|insufficient)",
      "insufficient (?:system|server)\\w*",
      "error in processing",
      "resources",
      "tim(?:ed|e) ?-?out",
      "try (?:again|later)|retry|later|come back",
      "lost connection|connection (?:dropped|lost|closed|reset)",
      "(?:message|delivery)(?: \\w+)* expired|delayed",
      "upstream",
      "out of memory",
    ],
  },
  {
    category: "General",
    codes: /^(?!1\.)/,
    phrases: [
      "(?:host|domain)(?: \\S+){0,3} (?:not found|unknown|not exist)",
      "(?:no such|unknown|unroute?able) (?:mail )?(?:host|domain)",
    ],
  },
  {
    category: "PolicyRejected",
    phrases: [
      "polic(?:y|ies)|mailpolicy",
      "prohibit\\w*",
      "denied|deny|denies",
      "blocked|ers-customized-block",
      "refused|refuse",
      "restrict\\w*",
      "security",
      "white-? ?list\\w*|allow(?:ed)?[- ]?list\\w*|allowed senders?",
      "filter\\w*",
      "forbidden|disallowed",
      "violat\\w+",
      "doesn't want|does not want|unwanted",
      "rejected by",
    ],
  },
  {
    category: "NoEmail",
    codes: /^($|[0125]\.)/,
    phrases: [
      `${RECIPIENT}${GAP}{0,2} (?:unavailable|not available)`,
      "mail ?box name not allowed",
      "^[^a-z]*address rejected",
    ],
  },
  {
    category: "PolicyRejected",
    codes: /^(?!1\.)/,
    phrases: [
      "not (?:authori[sz]ed|permitted|allowed|accepted|acceptable|accepting|wanted)",
      "will not accept",
      "(?:message|mail|e-?mail) (?:\\w+ ){0,2}(?:rejected|refused|discarded|bounced)",
    ],
  },
  {
    category: "ProtocolError",
    codes: /^(?!1\.)/,
    phrases: [
      "syntax",
      "command(?: \\S+)? (?:not|un)\\w*",
      "(?:bad|out of) sequence",
      "protocol",
      "parameters?",
      "starttls|tls|ssl|encrypt\\w*",
      "auth\\w*",
      "smtputf8|8bitmime",
    ],
  },
];

/** The rules in the order they are tried, each compiled to one expression. */
export const TEXT_MEANINGS = TEXT_RULES.map(({ phrases, codes = /^/, ...meaning }) => ({
  ...meaning,
  codes,
  text: new RegExp(String.raw`(?<!\w)(?:${phrases.join("|")})(?!\w)`),
}));

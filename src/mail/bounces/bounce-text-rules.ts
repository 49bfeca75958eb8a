/**
 * English phrases of bounces without a delivery-status part (RFC 3464). Each rule is about a kind of sentence, not
 * about one system. Most rules cover several of these: qmail, Exim, Sendmail, Smail, Postfix, Courier, Exchange, Notes
 * and Domino, GroupWise, IMail, MDaemon, hMailServer, Netscape and Sun servers, InterScan, MailMarshal, SurfControl,
 * OpenSMTPD, James, Gmail, Yahoo, AOL, GMX, mail.ru, Zoho, telephone carriers.
 * Data for failed-recipients-in-text.ts and delivery-state-in-text.ts; other languages are in bounce-phrases-….ts.
 */

/** Local parts of From that only mail systems use, with common misspellings. */
export const MAILER_DAEMON = /^(?:mail(?:er)?[-_.]?d(?:ae|ea|e|a)mon|mdaemon)(?:[-_.+=\d].*)?$/i;
export const POSTMASTER = /^post[-_.]?master(?:[-_.+=\d].*)?$/i;

/** Further local parts of From that mail systems use. */
export const MAIL_SYSTEM =
  /^(?:mail[-_.]?(?:delivery|system|admin\w*|server|service|agent|router|gateway|gate|fehler|error|robot)|(?:mail[-_.]?)?delivery(?:[-_.]?(?:sub)?system)?|system[-_.]?admin\w*|smtp\w*|imss|mmda?|mda|mta|daemon|ndr|dsn|bounces?|listserv|microsoftexchange[0-9a-f]{8,}|no-?reply[-_.+]?(?:bounce|deliver)\w*)$/i;

/** Subjects of bounces. */
export const BOUNCE_SUBJECT =
  /un-?deliver|non-?deliver|(?:not|cannot|can't|couldn't|n't)(?: be)?(?: yet)?(?: been)? (?:deliver|sent|accept)|deliver\w*\W.{0,30}(?:fail|error|problem|status|notif|warning|delay|unsuccess|success|report)|(?:fail\w*|errors?|problems?|unable|warning|delay\w*|success\w*)\W.{0,30}deliver|return(?:ed|ing)?(?: \w+)? (?:mail|message|e-?mail|to sender)|mail (?:system )?(?:error|fail)|fail(?:ure|ed) (?:notice|notification|mail)|(?:mail|message) fail|processing error|rejected|bounced?\b|user unknown|unknown user|mailbox (?:is )?full|over quota/i;

/** Subjects that match BOUNCE_SUBJECT but do not say that the delivery failed. */
export const NEUTRAL_SUBJECT =
  /^(?!.*(?:fail|error|problem|unsuccess|undeliver|\bnot\b|n't|return|reject|unable)).*(?:deliver\w*\W.{0,30}(?:status|notif|report|success|warning|delay)|(?:success\w*|warning|delay\w*)\W.{0,30}deliver)/i;

/** Sentences of a bounce, in one line. */
export const BOUNCE_TEXT =
  /(?:could|can|was|were|has|have|had|did|does|do|is|are|will) ?(?:not|n't|never)(?: \w+){0,2} (?:deliver|reach|sent|send|receive|accept|exist)|cannot be (?:deliver|sent|reach)|un-?deliver|unable to (?:be )?(?:deliver|send|reach|relay)|wasn't able to deliver|not able to deliver|deliver\w*.{0,40}\b(?:fail|error|problem|abort|delay|postpone|unsuccess|trouble)|(?:fail|error|problem|trouble|attempt)\w*.{0,40}\bdeliver|not delivered|not deliverable|returned (?:mail|message|to|because)|been returned|(?:following|these|this) (?:e-?mail )?(?:address|recipient)\w*(?:\(es\)|\(s\))? (?:fail|had|has|have|was|were|is|are)|fatal errors?|failed (?:recipient|address)|error-for:|intended recipient|unknown (?:user|recipient)|user unknown|no such user|user not known|not accept|mailbox (?:is )?(?:full|unavailable)|final delivery/i;

/** Sentences that occur only in bounces about a failed delivery. */
export const STRONG_TEXT =
  /(?:could|can|was|were|has|have|had|did|is|are|will) ?(?:not|n't|never)(?: yet)?(?: \w+)?(?: be| been)?(?: \w+)? (?:deliver|relayed|transmitted)|cannot (?:be )?deliver|un-?deliver(?:able|ed)|(?:unable|not able|failed) to (?:be )?deliver|delivery(?: \S+){0,8} (?:failed|failure|was unsuccessful|aborted)|(?:address|recipient)\w*(?:\(es\)|\(s\))? failed|fatal errors?|error-for:|mailbox (?:is |was )?(?:full|over)|(?:over|exceed\w*)(?: \w+){0,3} quota|quota (?:has been )?exceeded|unknown (?:user|recipient)|user unknown|no such (?:user|mailbox|recipient)|(?:message|mail)(?: \S+){0,3} (?:could|can) ?not be sent to|address not found|(?:user|recipient|mailbox|account|address)(?: \S+)? (?:does not exist|doesn't exist|not found)|return(?:ed|ing) (?:mail |message )?to (?:the )?sender/i;

/** The message was delivered. */
export const DELIVERED =
  /(?<!un)success(?:ful(?:ly)?)?\W(?:\w+ ){0,2}(?:deliver|relayed|sent)|deliver\w*\W(?:\w+\W){0,4}(?<!un)success|\(success\)|\bwas delivered to\b|has been delivered to\b/i;

/** A line after which the returned message or a part of it follows. */
export const ORIGINAL_FOLLOWS: readonly RegExp[] = [
  /^[\s>|]*[-=_*#+]{2}.*\b(?:original|returned|unsent|headers?|copy|(?:message|mail) text|source mail|below|originalnachricht|ursprüngliche|d'origine|mensaje original|messaggio originale|mensagem original|oorspronkelijk\w*|oryginaln\w*)\b/i,
  /^[\s>|]*[-=_*#+]{2}.*(?:исходно|оригинал|元の(?:メール|メッセージ)|オリジナル|原始|原邮件|原郵件|원본)/i,
  /^\W*(?:message d'origine|message original|mensaje original|messaggio originale|mensagem original|oorspronkelijk bericht|oryginalna wiadomość|original-?nachricht|исходное (?:сообщение|письмо)|原始邮件|原始郵件|元のメッセージ)\W*$/iu,
  /^\W*(?:old|original|undelivered|rejected|returned|ursprüngliche) (?:message|mail|e-?mail|nachricht|headers?)(?: \w+){0,6}(?: as follows| follows| below| attached| \(.*\))?\W*$/i,
  /^\W*(?:your|the|a|an?y|here|this|included|below|following) (?=.*\b(?:message|mail|e-?mail|text|headers?)\b)(?!.*\b(?:not|address|recipient|transcript|attempts|reason|errors?|list)\b)(?:\S+ ){0,12}?(?:follows|below|below this line|attached(?: below)?|reads(?: \(in part\))?|(?:message )?headers?|included|is as follows|a copy of .*|first part of .*)\W*$/i,
  /^>?(?:Received:\s+(?:from|by|\()|Return-Path:\s*<|X-(?:Apparently-From|Originating-IP|Env-Sender):|Message-ID:\s*<|MIME-Version:\s*1\.0)/i,
];

/** Words before the address of a failed recipient. */
export const BEFORE_RECIPIENT: readonly RegExp[] = [
  /\b(?:(?:un)?deliver(?:ed|able|ing|y)?|addressed|sent|send|messages?|mail|e-?mail|copy|transmit\w*|forward\w*|remis|livré|delivre|zugestellt|relay|nachricht|courrier|courriel|mensaje|correo|messaggio|mensagem|bericht|wiadomo\S+|meddeland\S*|melding\S*|viesti\S*)\b(?: \S+){0,6}?\s+(?:to|for|an|à|a|al|ad|para|pour|per|für|aan|naar|do|till|til)\W*$/i,
  /\b(?:recipients?|rcpt|user(?:id|name)?s?|address(?:e?es?|es)?|mail ?box|account|alias|login|person|empfänger|adressat|destinataire|destinat[aá]rio|ontvanger|geadresseerde|odbiorca|adresat|mottagare|mottaker|modtager|vastaanottaja|příjemce|címzett|alıcı|usuario|utilisateur|benutzer)(?:\(e?s\))?(?:\W+(?:is|was|not|affected|are|were|invalid|unknown|full|disabled|inactive|unavailable|failed|rejected|over quota|to|name|address|id|mail ?box|account|e-?mail|e-?mail address))*\W*$/i,
  /(?:получател|адресат|пользовател|одержувач|παραλήπτ|宛先|受信者|送信先|收件人|收件者|收信人|받는 ?사람|수신자)[^@]{0,12}$/iu,
  /(?:\battempts|\berror-for|\bquota violation for|\bunknown \w+|\breach|\bfailed|\baddress)\W*$/i,
];

/** Words after the address of a failed recipient. */
export const AFTER_RECIPIENT =
  /^\W*(?:(?:could|can|was|were|has|have|had|did|does|is|are|will) ?(?:not|n't|no)\b|cannot|can't|no such|no longer|not (?:found|known|listed|deliver|a (?:known|valid))|unknown|user (?:unknown|not)|unrouteable|unroutable|failed|undeliver|rejected|refused|over quota|mailbox|is (?:unknown|invalid|unavailable|full|disabled|inactive)|due to|because|for the following reason|has (?:been )?(?:exceeded|disabled|suspended|delayed|failed)|recipient|invalid|delivery|konnte\b|existiert|ist (?:unbekannt|nicht|ungültig)|n'existe|n'a pas|est inconnue?|no existe|no se ha|non esiste|non è|não existe|bestaat niet|kon niet|nie istnieje)/i;

/** Words before the original address, if the failed address was derived from it by an alias or a forward. */
export const BEFORE_ORIGINAL =
  /\b(?:(?:expanded|generated|aliased|(?:auto)?forwarded|redirected|resolved|rewritten|derived) (?:from|by|via)|original(?:ly)? (?:addressed|sent) to|original (?:address|recipient))\W*$/i;

/** Words before addresses that have no part in the failure: contacts and the sender. */
export const BEFORE_BYSTANDER =
  /\b(?:contact|ask|write|mailto|reply|assistance|help|questions?|report(?:ed)?|complain\w*|forward this|send (?:an? )?(?:e-?mail|mail|message)|e-?mail us|notify|administrator|from|sender|sent by|mail from|return path|reply-to|errors-to|cc|message-id|by|via|absender|expéditeur|remitente|mittente|remetente|afzender|nadawca|wenden|contactez|contacto con|contattare|contate|contact op)\b(?:\W+(?:the|your|our|us|at|to|by|an?|and|this|please|local|system|e-?mail|mail|message|problem|address|is))*\W*$/i;
/** Words before the addresses of contacts and the sender, in scripts without word boundaries. */
export const BEFORE_SENDER_OTHER_SCRIPTS =
  /(?:отправител|відправник|αποστολέ|差出人|送信者|送信元|发件人|寄件者|寄件人|보낸 ?사람|발신자)[^@]{0,12}$/iu;
export const BYSTANDER =
  /^(?:post-?master|mailer-?daemon|mdaemon|abuse|help(?:desk)?|support|hostmaster|no-?reply|do-?not-?reply)$/i;

const REASON =
  "(?:reasons?|cause|because|explanation|diagnos\\p{L}*|(?:server|remote|host)(?:'s)? (?:said|answered|replied|response|answer|reply)|gr[uü]nd(?:en)?|ursache|raisons?|motivos?|motivi|razón|ragione|razão|redenen|reden|oorzaak|przyczyn\\p{L}*|powod\\p{L}*|årsag|orsak|årsak|anledning|syy|syystä|důvod\\p{L}*|dôvod\\p{L}*|indok|oka|nedenle?|sebebi?|motivul|причин\\p{L}*|λόγο\\p{L}*|razlog\\p{L}*)";
const REASON_ELSEWHERE = "(?:原因|理由|이유|사유|سبب|הסיבה|เหตุผล)";

/** The end of a line after which the reason follows: "for the following reason:". */
export const ANNOUNCES_REASON = new RegExp(
  `(?:(?<!\\p{L})${REASON}(?!\\p{L})|${REASON_ELSEWHERE})(?: (?:is|was|ist|war|est|è|es|é|follows|below|given))?[^\\p{L}\\d@]{0,8}[:：][^\\p{L}\\d@]{0,8}$|(?<!\\p{L})(?:following|folgende\\p{L}*|suivantes?|siguientes?|seguenti?|seguintes?|volgende) ${REASON}[^\\p{L}\\d@]{0,8}$`,
  "iu",
);
/** Words after which the reason follows in the same line: "Reason: mailbox of …". */
export const REASON_BEFORE = new RegExp(
  `(?:(?<!\\p{L})${REASON}(?!\\p{L})|${REASON_ELSEWHERE})[^\\p{L}\\d@]{0,8}[:：][^@]{0,200}$`,
  "iu",
);

/** Announces recipients, which some systems name without a domain. */
export const ANNOUNCES_USERS =
  /\b(?:following (?:\S+ )?(?:recipient|address|user|account)|(?:delivered|sent) to the following|recipient(?:s|\(s\))?:\s*$)/i;

/** The message is still being tried. */
export const DELAYED =
  /(?:has|have|is|was) (?:not yet|still not|not \w+ yet)|not yet (?:been )?deliver|(?:be|been|is|was|message|mail|delivery) (?:delayed|deferred|postponed)|delayed (?:mail|message|for|delivery)|delay(?:ed)?\W*$|warning message only|this is (?:just|only) a warning|will (?:continue|keep)(?: to)? (?:be )?(?:attempt|try|retry)|(?<!\bno (?:\w+ ){0,3})attempts will (?:continue|be (?:made|continued))|will be (?:retried|attempted again|tried again)|(?:will|we'll) (?:retry|try again)|continue (?:trying|to try|to attempt|to be attempted|to be made)|keep trying|still (?:being |be )?(?:tr(?:y|ied)|retr|queued|attempt|undelivered|in (?:the|our) (?:mail )?queue)|non-?fatal (?:delivery )?errors?|do(?: not|n't) (?:need|have) to re-?send|no action is required|transient (?:non-?fatal|errors?)|temporary (?:delivery )?(?:problem|failure|error)s? .{0,80}(?:retr|try)/i;

/** The message is not being tried any more; overrides DELAYED. */
export const GIVEN_UP =
  /(?:given|gave|giving) up|permanent(?:ly)?(?: \w+)? (?:error|fail|fatal|undeliver|reject)|fail\w* permanently|(?<!non-?)fatal errors?|permanent error|(?:not going|not be able|unable) to try again|(?:not|n't) (?:be )?(?:retr(?:y|ied)|try(?:ing)? again|attempt\w* again)|no (?:further|more) (?:attempts?|delivery)|(?:removed|deleted) from (?:the )?(?:\w+ )?queue|(?:queue|retry) (?:time ?(?:out|limit)|period) (?:exceeded|expired)|too long|has (?:now )?(?:failed|expired|been (?:returned|bounced|rejected))|final(?:ly)? failed|maximum (?:delivery )?attempts|retry (?:timeout|time) (?:exceeded|not)/i;

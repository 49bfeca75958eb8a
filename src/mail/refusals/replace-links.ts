/**
 * Evaluates links, host names and addresses in a reply. Most of them are noise, with words that are not part of the
 * sentence ("https://example.com/no-such-user"). Some are the reason itself: the page of a block list, or a help page
 * whose anchor names the fault. Those are replaced by words; the rest is removed.
 */

/** Replaces a link to a block list, or its name. */
export const BLOCK_LIST_MARK = "blocklistlink";
/** Replaces a link to a page for senders: about an IP address, or a provider's postmaster pages. */
export const SENDER_PAGE_MARK = "senderpagelink";
/** Replaces any other link. */
export const LINK_MARK = "otherlink";

/** Operators of block lists and IP reputation services: servers name their hosts only for that reason. */
const BLOCK_LIST_DOMAINS = [
  "spamhaus.org spamhaus.net spamhaus.com abuseat.org spamcop.net barracudacentral.org sorbs.net",
  "uceprotect.net uceprotect.de uceprotect.org backscatterer.org manitu.net nixspam.org nixspam.net",
  "surbl.org uribl.com invaluement.com junkemailfilter.com psbl.org mailspike.net mailspike.org",
  "mailspike.io abusix.zone abusix.com abusix.org spamrats.com gbudb.com gbudb.net s5h.net blocklist.de",
  "dronebl.org nordspam.com spfbl.net lashback.com unsubscore.com wpbl.info 0spam.org efnetrbl.org",
  "surriel.com realtimeblacklist.com spameatingmonkey.net spameatingmonkey.com spamcannibal.org",
  "njabl.org ahbl.org five-ten-sg.com rfc-clueless.org rfc-ignorant.org mail-abuse.org mail-abuse.com",
  "ers.trendmicro.com servicecentral.trendmicro.com csi.cloudmark.com csi.mimecast.org",
  "prs.proofpoint.com ipcheck.proofpoint.com dnsbl-lookup.proofpoint.com ipremoval.sms.symantec.com",
  "trustedsource.org senderbase.org talosintelligence.com senderscore.org senderscore.net",
  "returnpath.com returnpath.net ordb.org dsbl.org sender.office.com",
  "sendersupport.olc.protection.outlook.com senderscore.com nszones.com habeas.com dnswl.org abuse.ch",
  "zapbl.net scientificspam.net kisarbl.or.kr anti-spam.org.cn rbl.jp mxrate.net rbl.att.net",
  "spamrl.com team-cymru.org team-cymru.com hetrixtools.com multirbl.valli.org justspam.org suomispam.net",
  "psky.me fmb.la msrbl.net drmx.org v4bl.org cleantalk.org spamexperts.com mxtoolbox.com",
]
  .join(" ")
  .split(" ")
  .map((domain) => domain.replaceAll(".", String.raw`\.`));
/** A label in the name of a block list's zone, under any domain. */
const BLOCK_LIST_LABEL =
  "(?:dns|ip|mail|spam|dyn|rhs|d|m)?-?(?:rbl|dnsbl|dnsrbl|rhsbl|uribl|surbl|blacklists?|blocklists?|blackholes?|denylist)s?\\d?";
const NAME = String.raw`(?<![\w.@-])`;
const BLOCK_LIST_HOST = new RegExp(
  String.raw`${NAME}(?:(?:[\w-]+\.)*(?:${BLOCK_LIST_DOMAINS.join("|")})|(?:[\w-]+\.){0,6}${BLOCK_LIST_LABEL}(?:\.[\w-]+)*\.[a-z]{2,}|bl\.(?:[\w-]+\.)+[a-z]{2,})\.?(?![\w-])`,
  "gi",
);
/** Paths of delisting pages at any provider. */
const BLOCK_PAGE =
  /[/?&#=._-](?:dns-?bl|rbl|(?:black|block|deny)-?list\w*|blocked|blocks?(?=[/?#.]|$)|de-?list\w*|unblock\w*|ip-?(?:removal|lookup|check|block\w*|reputation)|reputation)(?![a-z])|\/errors\/(?:421|55[034])(?:hv|rl|co|dn|dy)|\/(?:421|55[034])-(?:ts|bl|gl)|[?&]c=(?:bl|rbl|ip|dialup|dyn|r02\d\d)\b/i;
/** Addresses for delisting requests. */
const REMOVAL_ADDRESS =
  /\b(?:delist@(?:messaging\.)?microsoft\.com|to(?:sa|br)@rx\.t-online\.de|abuse_rbl@abuse-att\.net|(?:blockedbyearthlink|openrelay)@abuse\.earthlink\.net|unblock(?:\.requests)?@[\w.-]+)/gi;
/** Google's help pages name the fault in a parameter: "?p=NoSuchUser". */
const GOOGLE_FAULT = /support\.google\.com\/\S*[?&]p=(\w{3,60})/i;
/** Google's pages for bulk senders. */
const GOOGLE_BULK = /support\.google\.com\/\S*answer\/(?:81126|188131|10336)\b/i;
/** Comcast's anchors: "smtp-error-codes.php#BL000001". */
const ANCHOR_CODE = /#([A-Z]{2}\d{3,})\b/;
/** Hosts of providers' postmaster pages. */
const SENDER_HOST = /^(?:postmaster|sender-?support|mail\.live\.com$)/i;
/** An IP address in the path or the query. */
const CARRIED_IP = /[/?=&#](?:\d{1,3}(?:\.|%2e)){3}\d{1,3}\b|[?=&](?:[\da-f]{1,4}(?::|%3a)){2,}/i;

const LINK = /\b(?:(?:https?|hxxps?):\/\/|www\.)[^\s<>"']+/gi;
const ADDRESS = /(?<![^\s<>[\]():;,"'])[^\s<>[\]():;,"']+@[^\s<>[\]():;,"']+/g;
const LONG_HOST = /\b(?:[a-z0-9-]+\.){2,}[a-z]{2,}\b/gi;
/** "host mx.example.com[192.0.2.1] said: …": the host before a quoted reply, which is not part of the reply. */
const SPEAKER =
  /\b(host|server|mta|mx|by|from|to|with) [\w.-]+ ?[[(][\da-f.:]+[\])](?=[:,]? (?:said|while|after|refused|returned|responded)|:\d)/gi;

/**
 * The text of a reply with its links replaced by words, and without host names.
 * @param address replaces each e-mail address
 */
export function readLinks(text: string, address: string): string {
  return text
    .replace(SPEAKER, "$1 host")
    .replace(/\brefused to talk to me\b/gi, "said")
    .replace(REMOVAL_ADDRESS, ` ${BLOCK_LIST_MARK} `)
    .replace(LINK, (link) => ` ${wordsOfLink(link)} `)
    .replace(ADDRESS, ` ${address} `)
    .replace(BLOCK_LIST_HOST, ` ${BLOCK_LIST_MARK} `)
    .replace(LONG_HOST, " ");
}

function wordsOfLink(link: string): string {
  const [, fault] = GOOGLE_FAULT.exec(link) ?? [];
  if (fault !== undefined) return fault.replace(/(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])/g, " ");
  if (GOOGLE_BULK.test(link)) return "unsolicited";
  const host = link.replace(/^\w+:\/\//, "").replace(/[/?#].*$/s, "");
  if (host.search(BLOCK_LIST_HOST) >= 0 || BLOCK_PAGE.test(link)) return BLOCK_LIST_MARK;
  const [, code] = ANCHOR_CODE.exec(link) ?? [];
  if (code !== undefined) return code;
  return CARRIED_IP.test(link) || SENDER_HOST.test(host) ? SENDER_PAGE_MARK : LINK_MARK;
}

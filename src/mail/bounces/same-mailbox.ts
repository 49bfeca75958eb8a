/**
 * Compares the address that we wrote to with a mailbox that a report names. Servers report it in their own spelling:
 * quoted differently, without its sub-address, under the name of the mailbox host, or rewritten for a gateway. The
 * comparison decides which message a report is about, never who gets mail.
 */
import { getDomain } from "tldts";
import { domainOf, mailboxOf, normalizeAddress } from "#mail/address.ts";

/** Domains with the same mailboxes at one provider. */
const SAME_PROVIDER: readonly (readonly string[])[] = [
  ["gmail.com", "googlemail.com"],
  ["icloud.com", "me.com", "mac.com"],
  ["proton.me", "protonmail.com", "protonmail.ch", "pm.me"],
  ["yandex.ru", "ya.ru", "yandex.com", "yandex.by", "yandex.kz", "yandex.ua"],
  ["fastmail.com", "fastmail.fm"],
];
const CANONICAL_DOMAIN = new Map(
  SAME_PROVIDER.flatMap(([first = "", ...others]) => others.map((other) => [other, first] as const)),
);
/** Dots in its local parts are ignored. */
const DOTLESS = "gmail.com";
/** First labels in the names of mail servers. */
const HOST_NAME =
  /^(?:[a-z]{0,3}-?)?(?:mail|mailbox|mx|smtp|imap|pop|post|mbox|store|exch\w*|zimbra|server|srv|host|node|web|webmail|www|localhost|outlook|live|inbound|relay|gateway|gw|lmtp|mda|backend|be|ex|ms)s?-?\d{0,4}[a-z]?$/;
/** A host that does not show its organization: "localhost", "mail.corp.local", "[192.0.2.1]". */
const NAMELESS_HOST = /^(?:\[.*\]|[^.]+|.*\.(?:localdomain|localhost|local|lan|internal|intranet|invalid))$/;
const LONGEST_NAME = 1_000;

/** Whether a report names an address; it may also name a user, a command or a file. */
export function isAddress(name: string): boolean {
  const bare = name.trim();
  return bare.includes("@") && !/^["'\\\s]*(?:[|/>]|:\w+:|pipe\b|IMCEAEX-|IMCEAX400-)/i.test(bare);
}

/**
 * Whether both names mean the same mailbox.
 * @param own an address that we wrote to
 * @param reported the name in a report
 */
export function isSameMailbox(own: string, reported: string): boolean {
  const known = keyOf(own);
  return spellingsOf(reported.slice(0, LONGEST_NAME)).some((spelling) => {
    const key = keyOf(spelling);
    return (
      key === known ||
      (localOf(key) === localOf(known) && areHostsOfOneOrganization(domainOf(known), domainOf(key))) ||
      // qmail's virtual domains: example.com-ann@example.com
      localOf(key) === `${domainOf(known)}-${localOf(known)}`
    );
  });
}

function localOf(address: string): string {
  return address.slice(0, Math.max(address.lastIndexOf("@"), 0));
}

/** A canonical spelling: lower case, no sub-address, the provider's first domain. */
function keyOf(text: string): string {
  const address = mailboxOf(normalizeAddress(text.trim().replace(/\.$/, "")));
  const domain = CANONICAL_DOMAIN.get(domainOf(address)) ?? domainOf(address);
  const local = localOf(address);
  return `${domain === DOTLESS ? local.replaceAll(".", "") : local}@${domain}`;
}

/** The name, and the addresses from which a gateway may have made it. */
function spellingsOf(reported: string): string[] {
  const bare = reported
    .trim()
    .replace(/^[<\\]|>$/g, "")
    // A source route (RFC 5321 section 4.1.1.3): @a.example,@b.example:ann@example.com
    .replace(/^@[^:]*:/, "");
  const local = localOf(bare);
  const found = [bare];
  // xtext (RFC 3461 section 4) that was not decoded
  const decoded = bare.replace(/\+([\dA-F]{2})/g, (_, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  );
  if (decoded !== bare) found.push(decoded, decoded.slice(0, decoded.lastIndexOf("@")));
  // ann%example.com@gateway, ann=example.com@gateway (also of SRS and BATV), ann#example.com@gateway
  for (const [, user = "", host = ""] of local.matchAll(/([^%=#!]+)[%=#]([^%=#!]+\.[^%=#!]+)$/g)) {
    found.push(`${user}@${host}`);
  }
  // SRS0=hash=day=example.com=ann@forwarder
  const [, srsHost, srsUser] = /^SRS[01][=+-].*?=([^=]+\.[^=]+)=([^=]+)$/i.exec(local) ?? [];
  if (srsHost !== undefined) found.push(`${srsUser}@${srsHost}`);
  // prvs=tag=ann@example.com (BATV)
  const [, signed] = /^(?:prvs|btv1|msprvs1?)=[^=]+=+(.+)$/i.exec(local) ?? [];
  if (signed !== undefined) found.push(`${signed}@${domainOf(bare)}`);
  // gateway!example.com!ann
  const [, bangHost, bangUser] = /([^!@]+\.[^!@]+)!([^!@]+)(?:@.*)?$/.exec(bare) ?? [];
  if (bangHost !== undefined) found.push(`${bangUser}@${bangHost}`);
  // ann_example.com#EXT#@tenant.onmicrosoft.com
  const [, guest] = /^(.+)#EXT#$/i.exec(local) ?? [];
  if (guest !== undefined) found.push(guest.replace(/_([^_]*)$/, "@$1"));
  // Exchange: IMCEASMTP-ann+40example+2Ecom@example.com
  const [, wrapped] = /^IMCEA(?:SMTP|RFC822|INVALID)?-(.+)$/i.exec(decoded) ?? [];
  if (wrapped !== undefined) found.push(wrapped, localOf(wrapped));
  // X.400: DDA:SMTP=ann(a)example.com or RFC-822=ann(a)example.com
  const [, x400] = /(?:SMTP|RFC-?822)=([^;/]+)/i.exec(bare) ?? [];
  if (x400 !== undefined) found.push(x400.replace(/\(a\)/i, "@"));
  return found.filter((text) => text.includes("@"));
}

/** Whether two hosts serve the same organization, judging by their names. */
function areHostsOfOneOrganization(one: string, other: string): boolean {
  if (isBelow(one, other) || isBelow(other, one) || NAMELESS_HOST.test(other)) return true;
  const organisation = organisationOf(one);
  const [first = "", ...rest] = other.split(".");
  if (organisation === organisationOf(other)) return HOST_NAME.test(first);
  // Domains under which a hosting provider serves a customer: example.onmicrosoft.com, example.com.test-google-a.com,
  // example-com.mail.protection.outlook.com.
  const name = organisation.split(".")[0] ?? "";
  return (
    rest.length >= 2 &&
    ((first === name && name.length > 2 && !HOST_NAME.test(name)) ||
      first === organisation.replaceAll(".", "-") ||
      other.startsWith(`${organisation}.`))
  );
}

function isBelow(host: string, parent: string): boolean {
  return host.endsWith(`.${parent}`) && organisationOf(parent) === organisationOf(host);
}

function organisationOf(host: string): string {
  return getDomain(host, { allowPrivateDomains: true }) ?? host;
}

/** Parses values of reports as receivers write them, which often differs from the RFCs. */
import { hash } from "node:crypto";
import { domainInALabels } from "#mail/address.ts";

/** What the file name and the mail say, for values that the report lacks. */
export interface ReportHints {
  /** The file name. RFC 7489 section 7.2.1.1 and RFC 8460 section 5.1: `receiver!domain!begin!end!id.xml.gz`. */
  readonly name: string | null;
  /** The domain in the mail's From. */
  readonly sender: string | null;
}

export const noHints: ReportHints = { name: null, sender: null };

const maxDomainLength = 253;
const LAST_INSTANT = Date.UTC(2100, 0, 1);
const NUMBER = /^\+?\d{1,20}(?:\.\d{1,20})?(?:e\+?\d{1,2})?$/i;
/**
 * Digits in groups of three: "1,024", "1 024", "1'024", also with zero decimals, "1,024.0". A single dot is a decimal
 * point.
 */
const GROUPED =
  /^(\d{1,3}(?:([, \u00a0\u202f\u2009'’_])\d{3}(?:\2\d{3}){0,5}|(?:\.\d{3}){2,6}))(?:[.,]0{1,2})?$/;
const ISO =
  /^(\d{4})[-/](\d\d)[-/](\d\d)(?:(?:T|\s+)(\d\d):(\d\d)(?::(\d\d)(?:[.,]\d+)?)?)?\s*(?:(?:Z|UTC|GMT)|([+-]\d\d):?(\d\d)?)?$/i;
/** RFC 5322 section 3.3. */
const MAIL_DATE = /^(?:[a-z]{3},\s*)?\d{1,2}\s+[a-z]{3}\s+\d{4}\s+\d\d:\d\d/i;

/**
 * Parses a time, in milliseconds: seconds since 1970 (RFC 7489), also with decimals or as milli-, micro- or
 * nanoseconds, and dates of ISO 8601 or RFC 5322. Without a zone it is UTC. Null for anything else, and after the year
 * 2100.
 */
export function instantOf(text: string | null): number | null {
  const given = text?.trim() ?? "";
  const instant = NUMBER.test(given) ? fromNumber(Number(given)) : fromDate(given);
  return Number.isFinite(instant) && instant >= 0 && instant <= LAST_INSTANT ? Math.floor(instant) : null;
}

/** The period between two instants, which some programs swap. */
export function inOrder(one: number, other: number): { readonly begin: Date; readonly end: Date } {
  return { begin: new Date(Math.min(one, other)), end: new Date(Math.max(one, other)) };
}

/** Parses a count of messages or sessions; "3.0" is 3, "1,024" is 1024. Null for anything else, and above `most`. */
export function parseCount(text: string | null, most: number): number | null {
  const given = text?.trim() ?? "";
  const digits = GROUPED.exec(given)?.[1]?.replace(/\D/g, "") ?? given;
  const count = NUMBER.test(digits) ? Number(digits) : Number.NaN;
  return Number.isInteger(count) && count <= most ? count : null;
}

/** A domain in lower-case A-labels without a trailing dot; of an address, its domain. */
export function domainIn(text: string): string {
  const bare = text.trim().toLowerCase().replace(/[<>]/g, "");
  const domain = bare.slice(bare.lastIndexOf("@") + 1).replace(/\.$/, "");
  return domainInALabels(domain).slice(0, maxDomainLength);
}

/**
 * The reporter if the report does not name one: the domain of its contact address, of its file name, or of the mail.
 */
export function reporterOf(contact: string | null, hints: ReportHints): string {
  const contactDomain = contact?.includes("@") === true ? domainIn(contact.split(/[\s,;]/, 1)[0] ?? "") : "";
  return contactDomain || (fileParts(hints).receiver ?? hints.sender ?? "unknown");
}

/** A replacement for a missing id; the same for the same report. */
export function idFor(text: string): string {
  return `sha256:${hash("sha256", text).slice(0, 32)}`;
}

/** The parts of a file name that has the form of the RFCs. */
export function fileParts({ name }: ReportHints): {
  readonly receiver: string | null;
  readonly domain: string | null;
  readonly begin: string | null;
  readonly end: string | null;
} {
  const [receiver, domain, begin, end] = (name ?? "").replace(/^.*[/\\]/s, "").split("!");
  const hasForm = receiver !== undefined && domain !== undefined && begin !== undefined && end !== undefined;
  return hasForm
    ? { receiver: domainIn(receiver), domain: domainIn(domain), begin, end: end.replace(/\.\D.*$/s, "") }
    : { receiver: null, domain: null, begin: null, end: null };
}

/** The unit is recognized by the size: seconds stay below 10^11 until the year 5138. */
function fromNumber(value: number): number {
  if (value < 1e11) return value * 1e3;
  return value < 1e14 ? value : value < 1e17 ? value / 1e3 : value / 1e6;
}

function fromDate(text: string): number {
  const [whole, year, month, day, hour = "00", minute = "00", second = "00", zoneHours, zoneMinutes = "00"] =
    ISO.exec(text) ?? [];
  if (whole !== undefined) {
    const zone = zoneHours === undefined ? "Z" : `${zoneHours}:${zoneMinutes}`;
    return Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}${zone}`);
  }
  if (!MAIL_DATE.test(text)) return Number.NaN;
  return Date.parse(/\b(?:[a-z]{3,4}|[+-]\d{4})$/i.test(text) ? text : `${text} UTC`);
}

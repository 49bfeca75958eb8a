/**
 * Checks that a domain's SPF record includes this service's addresses, and suggests the record that does: one that keeps
 * what the existing records permit.
 */
import type { Resolver } from "#dns/resolver-interface.ts";
import { diagnosed } from "#identity/dns-checks/diagnose.ts";
import type { DnsCheck } from "#identity/dns-checks/dns-check.ts";
import { checkSpf } from "#mail/dns/spf-check.ts";
import { shownTerm } from "#mail/dns/spf-record.ts";
import { type RepairedTerms, repairSpf } from "#mail/dns/spf-repair.ts";
import { readTerm } from "#mail/dns/spf-term.ts";

export interface SpfDnsCheck extends DnsCheck {
  /** DNS look-ups that evaluating the record takes; receivers stop at 10 (RFC 7208 section 4.6.4). */
  lookups: number;
}

/** @param platformSpfDomain the domain that customers include */
export async function checkDomainSpf(
  resolver: Resolver,
  domain: string,
  platformSpfDomain: string,
): Promise<SpfDnsCheck> {
  const check = await checkSpf(resolver, domain, platformSpfDomain);
  const { status, found, foundHost: found_host, lookups, deadNames, message } = check;
  const place = { status, host: domain, type: "TXT" as const, found: [...found], found_host, lookups };
  if (status === "verified") return diagnosed({ ...place, expected: found[0] ?? "", message });
  const { value, notes } = suggestedSpf(found, platformSpfDomain, deadNames);
  return diagnosed({ ...place, expected: value, message: [message, ...notes].join(" ") });
}

export interface SuggestedSpf {
  readonly value: string;
  /** A sentence for each term that is changed or left out. */
  readonly notes: readonly string[];
}

/** Changes that get a sentence each. */
const MOST_NOTES = 20;

/**
 * Suggests one record that keeps what the existing ones permit, because a second record would make both invalid (RFC
 * 7208 section 4.5): the include first, then their terms, corrected where their meaning is plain. A blanket "+all" and
 * terms that cannot be understood are left out.
 * @param deadNames names without records, which make the SPF check fail: their terms are left out, too
 */
export function suggestedSpf(
  found: readonly string[],
  include: string,
  deadNames: readonly string[] = [],
): SuggestedSpf {
  const notes: string[] = [];
  const leaveOut = (term: string, why: string) =>
    notes.push(`The suggested record leaves out ${shownTerm(term)}: ${why}.`);
  const rewrite = (from: string, to: readonly string[]) => {
    if (to.length === 0) return;
    const written = to.map(shownTerm).join(" ");
    notes.push(`The suggested record has ${written} in the place of ${shownTerm(from)}.`);
  };
  const records = found.map(repairSpf);
  for (const { changes, leftOut } of records) {
    for (const { from, to } of changes) rewrite(from, to);
    for (const { term, why } of leftOut) leaveOut(term, why);
  }
  const redirects = redirectsOf(records, leaveOut);
  const alls = records.flatMap(({ terms }) => terms.filter(isAll));
  for (const term of alls.filter((one) => /^\+?all$/i.test(one))) {
    leaveOut(term, "it lets the whole Internet send as this domain");
  }
  const ends = alls.filter((term) => !/^\+?all$/i.test(term));
  const [end] = ends;
  for (const term of new Set(ends)) {
    if (term.toLowerCase() !== end?.toLowerCase())
      leaveOut(term, `a record has one "all", and ${end} comes first`);
  }
  const [redirect, ...moreRedirects] = redirects;
  const keepsRedirect = redirect !== undefined && moreRedirects.length === 0 && alls.length === 0;
  const includes = keepsRedirect ? [] : redirects.map((domain) => `include:${domain}`);
  if (!keepsRedirect) for (const domain of redirects) rewrite(`redirect=${domain}`, [`include:${domain}`]);
  const isRefusal = (term: string) =>
    term.slice(1).toLowerCase() === `include:${include}` && /^[-~?]/.test(term);
  const isDead = (term: string) => {
    const read = readTerm(term);
    return read.kind === "directive" && deadNames.includes(read.directive.value ?? "");
  };
  const others = records.flatMap(({ terms }) => {
    for (const term of new Set(terms.filter(isDead)))
      leaveOut(term, "the name does not exist, and the record fails because of it");
    return terms.filter((term) => !isAll(term) && !isRedirect(term) && !isRefusal(term) && !isDead(term));
  });
  const kept = distinct([`include:${include}`, ...others, ...includes], leaveOut);
  const ending = keepsRedirect ? `redirect=${redirect}` : (end ?? "~all");
  const more = notes.length - MOST_NOTES;
  return {
    value: ["v=spf1", ...kept, ending].join(" "),
    notes: more > 0 ? [...notes.slice(0, MOST_NOTES), `${more} more terms differ.`] : notes,
  };
}

/** The targets of redirects that receivers follow: those of records without "all" (section 6.1). */
function redirectsOf(
  records: readonly RepairedTerms[],
  leaveOut: (term: string, why: string) => void,
): string[] {
  const targets = records.flatMap(({ terms }) => {
    const redirects = terms.filter(isRedirect);
    if (!terms.some(isAll)) return redirects.map((term) => term.slice("redirect=".length));
    for (const term of redirects) leaveOut(term, 'receivers ignore it beside an "all"');
    return [];
  });
  return [...new Set(targets)];
}

/** Removes duplicate terms, and all but the first explanation. */
function distinct(terms: readonly string[], leaveOut: (term: string, why: string) => void): string[] {
  const kept = new Map<string, string>();
  for (const term of terms) {
    const isExplanation = /^exp=/i.test(term);
    const [first] = term.split("=");
    const key = isExplanation ? "exp" : term.toLowerCase().replace(/^\+/, "").replace(/\.$/, "");
    const before = kept.get(key);
    if (before === undefined) kept.set(key, term);
    else if (isExplanation && before !== term) leaveOut(term, `a record has one "${first}"`);
  }
  return [...kept.values()];
}

const isAll = (term: string): boolean => /^[-+~?]?all$/i.test(term);
const isRedirect = (term: string): boolean => /^redirect=/i.test(term);

/** Parses an SPF record (RFC 7208 sections 4.5, 4.6 and 12). A syntax error makes the whole record invalid. */
import type { Lookup, Resolver } from "#dns/resolver-interface.ts";
import { splitJoinedTerms } from "./spf-joined-terms.ts";
import { mechanisms, readTerm, type SpfDirective } from "./spf-term.ts";

/** A parsed SPF record. */
export interface SpfRecord {
  /** In order, up to and including "all": receivers never read the rest (section 5.1). */
  readonly directives: readonly SpfDirective[];
  /** Null if there is an "all" (section 6.1). */
  readonly redirect: string | null;
}

/** A term that makes the record invalid; `why` completes "… cannot be understood: …". */
export interface SpfFault {
  readonly faulty: string;
  readonly why: string;
}

/** What a domain publishes: one valid record, no record, several records, or one with a fault. */
export type PublishedSpf =
  | { readonly kind: "record"; readonly record: SpfRecord }
  | { readonly kind: "failed" | "none" }
  | { readonly kind: "several"; readonly count: number }
  | { readonly kind: "invalid"; readonly fault: SpfFault };

/** Looks up the record that an include or a redirect refers to (RFC 7208 sections 4.4 and 4.5). */
export async function findSpfRecord(
  resolver: Pick<Resolver, "txt">,
  domain: string,
): Promise<{ readonly answer: Lookup<string>; readonly published: PublishedSpf }> {
  const answer = await resolver.txt(domain);
  if (answer.outcome === "failed") return { answer, published: { kind: "failed" } };
  const texts = answer.outcome === "found" ? answer.records.filter(isSpfRecord) : [];
  const [text] = texts;
  if (text === undefined) return { answer, published: { kind: "none" } };
  if (texts.length > 1) return { answer, published: { kind: "several", count: texts.length } };
  const record = parseSpfRecord(text);
  const isInvalid = "faulty" in record;
  return { answer, published: isInvalid ? { kind: "invalid", fault: record } : { kind: "record", record } };
}

/** Whether a TXT record claims to be SPF. */
export function isSpfRecord(text: string): boolean {
  return /^v=spf1(?: |$)/i.test(text);
}

/** Whether the name contains a macro, and so depends on the message (section 7). */
export function hasMacro(domain: string): boolean {
  return domain.includes("%");
}

/** The terms after the version. */
export function termsOf(text: string): string[] {
  return text.split(" ").slice(1).filter(Boolean);
}

/** The parsed record, or its first faulty term. */
export function parseSpfRecord(text: string): SpfRecord | SpfFault {
  const [fault] = spfFaults(text);
  if (fault !== undefined) return fault;
  const terms = termsOf(text).map(readTerm);
  const directives = terms.flatMap((term) => (term.kind === "directive" ? term.directive : []));
  const all = directives.findIndex(({ mechanism }) => mechanism === "all");
  if (all >= 0) return { directives: directives.slice(0, all + 1), redirect: null };
  const redirect = terms.find((term) => term.kind === "modifier" && term.name === "redirect");
  return { directives, redirect: redirect?.kind === "modifier" ? redirect.value : null };
}

/** All faulty terms. "redirect" and "exp" may occur once (section 6). */
export function spfFaults(text: string): SpfFault[] {
  const seen = new Set<string>();
  return termsOf(text).flatMap((faulty) => {
    const term = readTerm(faulty);
    if (term.kind === "fault") return { faulty, why: missingBlankMessage(faulty) ?? term.why };
    if (term.kind !== "modifier" || !["redirect", "exp"].includes(term.name)) return [];
    if (seen.has(term.name)) return { faulty, why: `a record has one "${term.name}"` };
    seen.add(term.name);
    return [];
  });
}

function missingBlankMessage(term: string): string | null {
  const joined = splitJoinedTerms(term);
  if (joined === null) return null;
  const named = joined.map((one) => `"${one}"`).join(" and ");
  return `the blank between ${named} is missing; if a TXT record is split into strings, receivers join them without a blank, so put the blank at the end of a string`;
}

/** Remarks on terms that are valid but not what the owner meant. */
export function spfRemarks(text: string): string[] {
  const terms = termsOf(text);
  const read = terms.map(readTerm);
  const all = read.findIndex((term) => term.kind === "directive" && term.directive.mechanism === "all");
  return read.flatMap((term, place) => {
    const written = shownTerm(terms[place] ?? "");
    if (term.kind === "modifier") {
      if (term.name === "v") return `${written} occurs twice: remove it.`;
      if (mechanisms.some((mechanism) => mechanism === term.name)) {
        return `Receivers ignore ${written}, because it has "=" where a mechanism has ":": write "${term.name}:".`;
      }
      if (term.name === "redirect" && all >= 0) return `Receivers ignore ${written} next to an "all".`;
    }
    const isUnread = term.kind === "directive" && all >= 0 && place > all;
    return isUnread ? `Receivers never read ${written}, which comes after "all": put "all" at the end.` : [];
  });
}

const LONGEST_SHOWN = 150;

/** A term in quotation marks, shortened if it is long. */
export function shownTerm(term: string): string {
  return term.length > LONGEST_SHOWN ? `"${term.slice(0, LONGEST_SHOWN)}…"` : `"${term}"`;
}

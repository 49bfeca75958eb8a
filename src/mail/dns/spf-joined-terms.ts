/**
 * Splits terms of an SPF record that run together: a TXT record was split between two terms, and neither string kept
 * the blank. Receivers join the strings without a separator (RFC 7208 section 3.3).
 */
import { isValidTerm } from "./spf-term.ts";

/** Where a term may begin inside a text. */
const BEGINNING = /(?=[-+~?]?(?:include|exists|ip4|ip6|ptr|mx|a):|(?:redirect|exp)=|[-+~?]all|v=spf1)/gi;
/** Limit of positions that are tried: the search is quadratic. */
const MOST_BEGINNINGS = 60;

/** The terms that were joined, all of them valid; null if the text cannot be split into valid terms. */
export function splitJoinedTerms(text: string): string[] | null {
  const begins = [...text.matchAll(BEGINNING)].map(({ index }) => index).filter((index) => index > 0);
  if (begins.length === 0 || begins.length > MOST_BEGINNINGS) return null;
  const places = [0, ...begins, text.length];
  /** For each position, the terms from there to the end. */
  const splits = new Map<number, string[]>([[text.length, []]]);
  for (const from of places.slice(0, -1).toReversed()) {
    for (const to of places) {
      const rest = to > from ? splits.get(to) : undefined;
      const piece = text.slice(from, to);
      if (rest === undefined || !isValidTerm(piece)) continue;
      splits.set(from, [piece, ...rest]);
      break;
    }
  }
  const terms = splits.get(0);
  return terms !== undefined && terms.length > 1 ? terms : null;
}

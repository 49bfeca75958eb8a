/**
 * What `search` finds: people whose name or address before the @ has all words of the text, the last one as the
 * beginning of a word (one of one or two letters as the whole); or whose address or domain begins with the text. A part
 * with `_` in it has to stand there as it is written. The middle of a word is not found: trigrams, which would find it,
 * cost an import 17 microseconds a row, more than all else does. Each of these conditions on the table of subscribers
 * (as `s`) is answered by an index of its own, and cheaply only apart from the others: an `or` would be answered by
 * reading everybody.
 */
import sql, { join, type Sql } from "sql-template-tag";
import { domainInALabels } from "#mail/address.ts";

/** A shorter word is the beginning of too many. */
const PREFIX_LENGTH = 3;
/** More words than a name has. */
const MOST_WORDS = 8;

/** A search looks no further than so many people: what it finds beyond is not counted, and not paged to. */
export const MOST_FOUND = 2_000;

/** At least one condition; people who meet any are found. */
export function searchConditions(text: string): Sql[] {
  const typed = text.trim().toLowerCase();
  // Addresses are stored composed, names as they were given.
  return [...new Set([typed.normalize("NFC"), typed])].flatMap(conditionsOf);
}

function conditionsOf(wanted: string): Sql[] {
  const domain = domainInALabels(wanted);
  if (wanted.startsWith("@") && wanted.length > 1)
    return [sql`starts_with(s.email_domain, ${domain.slice(1)})`];
  if (wanted.includes("@")) return [sql`starts_with(s.email, ${domain})`];
  // Parted where subscriber_words does.
  const words = wanted.split(/[\s.,+_\-'’"/()]+/).filter((word) => word !== "");
  const beginnings = [
    ...(isLong(domain) ? [sql`starts_with(s.email_domain, ${domain})`] : []),
    // Words find the others.
    ...(isLong(words.at(-1) ?? "") ? [] : [sql`starts_with(s.email, ${wanted})`]),
  ];
  if (words.length === 0) return beginnings;
  const literal = wanted.split(/\s+/).filter((part) => part.includes("_"));
  const hasWords = [
    sql`subscriber_words(s.email, s.first_name, s.last_name) @@ ${queryOf(words)}::tsquery`,
    ...literal.map((part) => sql`position(${part} in ${searched}) > 0`),
  ];
  return [join(hasWords, " and "), ...beginnings];
}

const searched = sql`lower(split_part(s.email, '@', 1) || ' ' || coalesce(s.first_name, '') || ' ' ||
  coalesce(s.last_name, ''))`;

function queryOf(words: readonly string[]): string {
  const last = words.at(-1) ?? "";
  const query = words
    .slice(0, MOST_WORDS)
    .map((word) => `'${word.replaceAll("\\", "\\\\")}'`)
    .join(" & ");
  return isLong(last) && words.length <= MOST_WORDS ? `${query}:*` : query;
}

function isLong(text: string): boolean {
  return Array.from(text).length >= PREFIX_LENGTH;
}

/**
 * What `search` finds: people whose name or address before the @ has all words of the text, the last one as the
 * beginning of a word (one of one or two letters as the whole); or whose address or domain begins with the text. The
 * middle of a word is not found. Each of these conditions on the table of subscribers (as `s`) is answered by an index
 * of its own, and cheaply only apart from the others: an `or` would be answered by reading everybody.
 */
import sql, { type Sql } from "sql-template-tag";

/** A shorter word is the beginning of too many. */
const PREFIX_LENGTH = 3;
/** More words than a name has. */
const MOST_WORDS = 8;

/** A search looks no further than so many people: what it finds beyond is not counted, and not paged to. */
export const MOST_FOUND = 2_000;

/** At least one condition; people who meet any are found. */
export function searchConditions(text: string): Sql[] {
  const wanted = text.trim().toLowerCase();
  const address = sql`starts_with(s.email, ${wanted})`;
  if (wanted.startsWith("@") && wanted.length > 1)
    return [sql`starts_with(s.email_domain, ${wanted.slice(1)})`];
  if (wanted.includes("@")) return [address];
  const beginning = isLong(wanted) ? sql`starts_with(s.email_domain, ${wanted})` : address;
  // Parted where subscriber_words does, and at what has a meaning inside a quoted word of a tsquery.
  const words = wanted.split(/[\s.,+_\-'’"/()\\]+/).filter((word) => word !== "");
  if (words.length === 0) return [beginning];
  return [sql`subscriber_words(s.email, s.first_name, s.last_name) @@ ${queryOf(words)}::tsquery`, beginning];
}

function queryOf(words: readonly string[]): string {
  const last = words.at(-1) ?? "";
  const query = words
    .slice(0, MOST_WORDS)
    .map((word) => `'${word}'`)
    .join(" & ");
  return isLong(last) && words.length <= MOST_WORDS ? `${query}:*` : query;
}

function isLong(text: string): boolean {
  return Array.from(text).length >= PREFIX_LENGTH;
}

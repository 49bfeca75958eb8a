/**
 * What `search` finds, as a condition on the table of subscribers (as `s`). Every word of the text must begin a word of
 * the name, of the address before its @, or the domain; a word of one or two letters must be a name, or begin the
 * address; a text with an @ is the beginning of an address, or with the @ in front the beginning of a domain. Indexes
 * answer all of that; the middle of a word is not found.
 */
import sql, { join, type Sql } from "sql-template-tag";

/** More words than a name has. */
const MOST_WORDS = 5;
/** From here on a word is taken for the beginning of one. */
const PREFIX_LENGTH = 3;

/** A search looks no further than so many people: what it finds beyond is not counted, and not paged to. */
export const MOST_FOUND = 10_000;

export function searchCondition(text: string): Sql {
  const wanted = text.trim().toLowerCase();
  if (wanted.startsWith("@") && wanted.length > 1)
    return sql`starts_with(s.email_domain, ${wanted.slice(1)})`;
  if (wanted.includes("@")) return sql`starts_with(s.email, ${wanted})`;
  const words = wanted.split(/[\s.,+_\-'’"/()\\:&|!*<>]+/).filter((word) => word !== "");
  if (words.length === 0) return sql`false`;
  return join(words.slice(0, MOST_WORDS).map(wordCondition), " and ");
}

function wordCondition(word: string): Sql {
  const isPrefix = [...word].length >= PREFIX_LENGTH;
  const query = sql`subscriber_words(s.email, s.first_name, s.last_name) @@ ${`'${word}'${isPrefix ? ":*" : ""}`}::tsquery`;
  return isPrefix
    ? sql`(${query} or starts_with(s.email_domain, ${word}))`
    : sql`(${query} or starts_with(s.email, ${word}))`;
}

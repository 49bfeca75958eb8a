/**
 * What `search` finds, as a condition on the table of subscribers (as `s`). Each part of the text, between blanks, must
 * be the beginning of the domain, or of words of the name or of the address before its @; a word of one or two letters
 * must be one, or begin the address. A text with an @ is the beginning of an address, or with the @ in front of a
 * domain. Indexes answer all of that; the middle of a word is not found.
 */
import sql, { join, type Sql } from "sql-template-tag";

/** More parts than a name has. */
const MOST_PARTS = 5;
/** A shorter word is the beginning of too many. */
const PREFIX_LENGTH = 3;

/** A search looks no further than so many people: what it finds beyond is not counted, and not paged to. */
export const MOST_FOUND = 10_000;

export function searchCondition(text: string): Sql {
  const wanted = text.trim().toLowerCase();
  if (wanted.startsWith("@") && wanted.length > 1)
    return sql`starts_with(s.email_domain, ${wanted.slice(1)})`;
  if (wanted.includes("@")) return sql`starts_with(s.email, ${wanted})`;
  const parts = wanted.split(/\s+/).slice(0, MOST_PARTS);
  return join(parts.map(partCondition), " and ");
}

function partCondition(part: string): Sql {
  // What subscriber_words takes for blanks, and what has a meaning inside a quoted word of a tsquery.
  const words = part.split(/[.,+_\-'’"/()\\]+/).filter((word) => word !== "");
  const query = words.map((word) => `'${word}'${isLong(word) ? ":*" : ""}`).join(" & ");
  const column = isLong(part) ? sql`s.email_domain` : sql`s.email`;
  // The empty query matches nothing.
  return sql`(subscriber_words(s.email, s.first_name, s.last_name) @@ ${query}::tsquery or starts_with(${column}, ${part}))`;
}

function isLong(text: string): boolean {
  return [...text].length >= PREFIX_LENGTH;
}

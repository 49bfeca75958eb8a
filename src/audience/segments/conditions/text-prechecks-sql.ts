/** The SQL of a text in a row, and cheap checks that leave few rows for the full comparison. */
import sql, { type Sql } from "sql-template-tag";
import { foldedSql } from "#platform/database/folded-sql.ts";

export interface TextSource {
  readonly stored: Sql;
  /** The text in lower case, as foldCase makes it. */
  readonly folded: Sql;
  /**
   * `folded`: stored in lower case. `column`: not, and lowering it costs more than a cheap check. `json`: also
   * extracted again for every check, and may have blanks around it; columns are trimmed.
   */
  readonly form: "folded" | "column" | "json";
}

/** The characters that String.trim removes (ECMAScript WhiteSpace and LineTerminator). */
export const BLANKS =
  "\t\n\v\f\r \u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000\ufeff";

export function foldedText(stored: Sql): TextSource {
  return { stored, folded: stored, form: "folded" };
}

export function textInColumn(stored: Sql): TextSource {
  return { stored, folded: foldedSql(stored), form: "column" };
}

export function textInJson(stored: Sql): TextSource {
  return { stored, folded: foldedSql(stored), form: "json" };
}

/**
 * Evaluates `question` only for rows with a possible first letter: it must not hold unless the text starts with one of
 * `beginnings`.
 */
export function ifBegun({ stored, form }: TextSource, beginnings: readonly string[], question: Sql): Sql {
  const letters = beginnings.map((text) => text.charAt(0));
  if (form === "folded" || !letters.every(isAscii)) return question;
  const first = [...new Set(letters.flatMap(spellingsOf)), ...(form === "json" ? Array.from(BLANKS) : [])];
  const codes = first.map((letter) => letter.codePointAt(0));
  return inTurn(sql`ascii(${stored}) = any(${codes}::int[])`, question);
}

/** Evaluates `question` only for rows that contain a letter of `part`: it must not hold where the part is missing. */
export function ifHeld({ stored, form }: TextSource, part: string, question: Sql): Sql {
  const [letter] = Array.from(part)
    .filter((one) => isAscii(one) && !IN_MOST.includes(one))
    .sort((one, other) => RARE_FIRST.indexOf(one) - RARE_FIRST.indexOf(other));
  if (form !== "column" || letter === undefined) return question;
  const patterns = spellingsOf(letter).map((spelling) => `%${escapeLike(spelling)}%`);
  return inTurn(sql`${stored} like any(${patterns}::text[])`, question);
}

/** Letters that occur in so many names that a check excludes too few rows. */
const IN_MOST = "ae ";
/** The other letters, rarest in names first. Characters that are not letters are rarer still. */
const RARE_FIRST = "qxwzjfvpybkgcdhumtsolirn";

const isAscii = (letter: string) => /^\p{ASCII}$/u.test(letter);

/** The characters whose lower case may be this ASCII letter: itself, its capital, and for i and k one more letter. */
function spellingsOf(letter: string): string[] {
  const further: Readonly<Record<string, string>> = { i: "\u0130", k: "\u212a" };
  return [...new Set([letter, letter.toUpperCase(), further[letter] ?? letter])];
}

/**
 * Keeps the order of two conditions: without the brackets of its own expression PostgreSQL would evaluate the one it
 * considers cheaper first.
 */
function inTurn(look: Sql, question: Sql): Sql {
  return sql`((${look}) and (${question})) is true`;
}

/** Escapes a text for a `like` pattern. */
export function escapeLike(text: string): string {
  return text.replaceAll(/[\\%_]/g, "\\$&");
}

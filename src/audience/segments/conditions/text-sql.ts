/** Where text stands in a row, and quick looks at it: few rows are left to be asked in full. */
import sql, { type Sql } from "sql-template-tag";

export interface TextSource {
  readonly stored: Sql;
  /** The same in lower case, as foldCase makes it. */
  readonly folded: Sql;
  /**
   * Folded: it is in lower case as it is stored. Column: it is not, and making it so takes longer than a look. JSON: it
   * is taken out anew for every look as well, and may have blanks around it; columns are trimmed.
   */
  readonly form: "folded" | "column" | "json";
}

/** What String.trim takes away (ECMAScript WhiteSpace and LineTerminator). */
export const BLANKS =
  "\t\n\v\f\r \u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000\ufeff";

export function foldedText(stored: Sql): TextSource {
  return { stored, folded: stored, form: "folded" };
}

export function textInColumn(stored: Sql): TextSource {
  return { stored, folded: lowered(stored), form: "column" };
}

export function textInJson(stored: Sql): TextSource {
  return { stored, folded: lowered(stored), form: "json" };
}

function lowered(text: Sql): Sql {
  return sql`lower(${text} collate case_folding)`;
}

/** `question` of those alone who may meet it by their first letter: it must not hold unless one of `beginnings` does. */
export function ifBegun({ stored, form }: TextSource, beginnings: readonly string[], question: Sql): Sql {
  const letters = beginnings.map((text) => text.charAt(0));
  if (form === "folded" || !letters.every(isAscii)) return question;
  const first = [...new Set(letters.flatMap(spellingsOf)), ...(form === "json" ? Array.from(BLANKS) : [])];
  const codes = first.map((letter) => letter.codePointAt(0));
  return inTurn(sql`ascii(${stored}) = any(${codes}::int[])`, question);
}

/** `question` of those alone who may meet it by a letter of `part`: it must not hold where that part is missing. */
export function ifHeld({ stored, form }: TextSource, part: string, question: Sql): Sql {
  const [letter] = Array.from(part)
    .filter((one) => isAscii(one) && !IN_MOST.includes(one))
    .sort((one, other) => RARE_FIRST.indexOf(one) - RARE_FIRST.indexOf(other));
  if (form !== "column" || letter === undefined) return question;
  const patterns = spellingsOf(letter).map((spelling) => `%${escapeLike(spelling)}%`);
  return inTurn(sql`${stored} like any(${patterns}::text[])`, question);
}

/** A look for these leaves too many to be worth it. */
const IN_MOST = "ae ";
/** The other letters by how many names they are in. What is no letter is in fewer still. */
const RARE_FIRST = "qxwzjfvpybkgcdhumtsolirn";

const isAscii = (letter: string) => /^\p{ASCII}$/u.test(letter);

/** What an ASCII letter in lower case may have been: itself, its capital, and for two of them one more letter. */
function spellingsOf(letter: string): string[] {
  const further: Readonly<Record<string, string>> = { i: "\u0130", k: "\u212a" };
  return [...new Set([letter, letter.toUpperCase(), further[letter] ?? letter])];
}

/** PostgreSQL would put what it takes for cheaper first: in brackets of a question of their own both keep their places. */
function inTurn(look: Sql, question: Sql): Sql {
  return sql`((${look}) and (${question})) is true`;
}

/** The text itself, in a pattern. */
export function escapeLike(text: string): string {
  return text.replaceAll(/[\\%_]/g, "\\$&");
}

/** Text is compared trimmed, and without regard to case. */
import sql, { join, type Sql } from "sql-template-tag";
import { kind, type Moment, not, type Operator, type Question } from "./operator.ts";
import { readText, readTexts } from "./rule-value.ts";

export interface TextSource {
  /** In lower case, as foldCase makes it. */
  readonly folded: Sql;
  /** Whether blanks may stand around it: what the service reads itself is stored trimmed. */
  readonly mayBePadded: boolean;
}

export interface TextSetting extends Moment {
  /** The form in which the field's values are held and asked for. */
  readonly normal: (text: string) => string;
}

type TextQuestion = Question<string, TextSource>;
type TextOperator = Operator<string, TextSource, TextSetting>;

/** What String.trim takes away (ECMAScript WhiteSpace and LineTerminator). */
const BLANKS =
  "\t\n\v\f\r \u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000\ufeff";

/** Lower case letter by letter, as PostgreSQL has it; JavaScript alone would make two letters of İ, and look around Σ. */
export function foldCase(text: string): string {
  if (isAscii.test(text)) return text.toLowerCase();
  return Array.from(text, (letter) => String.fromCodePoint(letter.toLowerCase().codePointAt(0) ?? 0)).join(
    "",
  );
}

const isAscii = /^\p{ASCII}*$/u;

/** As two texts are compared. */
export function foldText(text: string): string {
  return foldCase(text).trim();
}

/** The same in SQL, but for blanks around it. */
export function folded(text: Sql): Sql {
  return sql`lower(${text} collate case_folding)`;
}

const one = (question: (wanted: string) => TextQuestion): TextOperator => ({
  read: (value, { normal }) => readText(value, normal, question),
});

const many = (question: (wanted: readonly string[]) => TextQuestion): TextOperator => ({
  read: (value, { normal }) => readTexts(value, normal, question),
});

const equals = one((wanted) => ({
  // Trimming costs more than a look whether it is worth it.
  sql: ({ folded, mayBePadded }) =>
    mayBePadded
      ? sql`${folded} like ${`%${escapeLike(wanted)}%`} and btrim(${folded}, ${BLANKS}) = ${wanted}`
      : sql`${folded} = ${wanted}`,
  holds: (held) => held === wanted,
}));

const isOneOf = many((wanted) => ({
  sql: ({ folded, mayBePadded }) =>
    sql`${mayBePadded ? sql`btrim(${folded}, ${BLANKS})` : folded} = any(${wanted}::text[])`,
  holds: (held) => wanted.includes(held),
}));

const endsWithAnyOf = many((wanted) => ({
  sql: (source) => endsWithAny(source, wanted),
  holds: (held) => wanted.some((end) => held.endsWith(end)),
}));

export const textKind = kind<string, TextSource, TextSetting>("a text", {
  equals,
  not_equals: not(equals),
  contains: one((wanted) => ({
    sql: ({ folded }) => sql`${folded} like ${`%${escapeLike(wanted)}%`}`,
    holds: (held) => held.includes(wanted),
  })),
  starts_with: one((wanted) => ({
    sql: ({ folded, mayBePadded }) =>
      sql`${mayBePadded ? sql`ltrim(${folded}, ${BLANKS})` : folded} like ${`${escapeLike(wanted)}%`}`,
    holds: (held) => held.startsWith(wanted),
  })),
  ends_with: one((wanted) => ({
    sql: (source) => endsWithAny(source, [wanted]),
    holds: (held) => held.endsWith(wanted),
  })),
  ends_with_any_of: endsWithAnyOf,
  does_not_end_with_any_of: not(endsWithAnyOf),
  in: isOneOf,
  is_one_of: isOneOf,
  is_not_one_of: not(isOneOf),
});

/** More ends than this are not tried one by one. */
const MOST_PATTERNS = 10;

/** Of many, those of one length are looked up together: among a thousand as quickly as among ten. */
function endsWithAny({ folded, mayBePadded }: TextSource, ends: readonly string[]): Sql {
  const text = mayBePadded ? sql`rtrim(${folded}, ${BLANKS})` : folded;
  const branches =
    ends.length <= MOST_PATTERNS
      ? ends.map((end) => sql`${text} like ${`%${escapeLike(end)}`}`)
      : Array.from(
          Map.groupBy(ends, (end) => Array.from(end).length),
          ([length, some]) => sql`right(${text}, ${length}) = any(${some}::text[])`,
        );
  return join(branches, " or ");
}

/** The text itself, in a pattern. */
function escapeLike(text: string): string {
  return text.replaceAll(/[\\%_]/g, "\\$&");
}

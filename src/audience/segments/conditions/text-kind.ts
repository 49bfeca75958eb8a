/** Conditions on text, which is compared trimmed and without regard to case. */
import sql, { join, raw, type Sql } from "sql-template-tag";
import { foldText } from "#platform/database/fold-text.ts";
import { kind, type Moment, not, type Operator, presence, type ValueTest } from "./operator.ts";
import { oneText, readRuleText, readRuleTexts, someTexts } from "./read-rule-value.ts";
import { BLANKS, escapeLike, ifBegun, ifHeld, type TextSource } from "./text-prechecks-sql.ts";

export interface TextForms {
  /** The form in which the field's values are stored and compared. */
  readonly normal: (text: string) => string;
  /** The form for ends of values, if it differs. */
  readonly normalEnd?: (text: string) => string;
}

export interface TextSetting extends Moment, TextForms {}

type TextQuestion = ValueTest<string, TextSource>;
type TextOperator = Operator<string, TextSource, TextSetting>;

const whole = ({ normal }: TextForms) => normal;
const end = ({ normal, normalEnd = normal }: TextForms) => normalEnd;

const one = (question: (wanted: string) => TextQuestion, form = whole): TextOperator => ({
  takes: oneText,
  read: (value, forms) => readRuleText(value, form(forms), question),
});

const many = (question: (wanted: readonly string[]) => TextQuestion, form = whole): TextOperator => ({
  takes: someTexts,
  read: (value, forms) => readRuleTexts(value, form(forms), question),
});

/** Trimmed; only for JSON, because trimming takes three times as long as the rest. */
function trimmed(side: "btrim" | "ltrim" | "rtrim", { folded, form }: TextSource): Sql {
  return form === "json" ? sql`${raw(side)}(${folded}, ${BLANKS})` : folded;
}

function holdsPart({ folded }: TextSource, part: string): Sql {
  return sql`${folded} like ${`%${escapeLike(part)}%`}`;
}

/** The usual spellings: lower case, capitalised words, upper case. */
function usualSpellings(wanted: string): string[] {
  const titled = wanted.replaceAll(/(^|\s)\S/gu, (start) => start.toUpperCase());
  return [wanted, titled, wanted.toUpperCase()].filter((spelling) => foldText(spelling) === wanted);
}

const equals = one((wanted) => ({
  sql: (source) => {
    const { stored, folded, form } = source;
    if (form !== "json") return ifBegun(source, [wanted], sql`${folded} = ${wanted}`);
    const isUsual = sql`${stored} = any(${usualSpellings(wanted)}::text[])`;
    const isOther = sql`${holdsPart(source, wanted)} and ${trimmed("btrim", source)} = ${wanted}`;
    return ifBegun(source, [wanted], sql`${isUsual} or ${isOther}`);
  },
  holds: (held) => held === wanted,
}));

const isOneOf = many((wanted) => ({
  sql: (source) => ifBegun(source, wanted, sql`${trimmed("btrim", source)} = any(${wanted}::text[])`),
  holds: (held) => wanted.includes(held),
}));

const endsWithAnyOf = many(
  (wanted) => ({
    sql: (source) => endsWithAny(source, wanted),
    holds: (held) => wanted.some((end) => held.endsWith(end)),
  }),
  end,
);

export const textKind = kind<string, TextSource, TextSetting>("text", "a text", {
  equals,
  not_equals: not(equals),
  contains: one((wanted) => ({
    sql: (source) => ifHeld(source, wanted, holdsPart(source, wanted)),
    holds: (held) => held.includes(wanted),
  })),
  starts_with: one((wanted) => ({
    sql: (source) =>
      ifBegun(source, [wanted], sql`${trimmed("ltrim", source)} like ${`${escapeLike(wanted)}%`}`),
    holds: (held) => held.startsWith(wanted),
  })),
  ends_with: one(
    (wanted) => ({
      sql: (source) => endsWithAny(source, [wanted]),
      holds: (held) => held.endsWith(wanted),
    }),
    end,
  ),
  ends_with_any_of: endsWithAnyOf,
  does_not_end_with_any_of: not(endsWithAnyOf),
  in: isOneOf,
  is_one_of: isOneOf,
  is_not_one_of: not(isOneOf),
  ...presence({
    sql: ({ stored, form }: TextSource) =>
      form === "json" ? sql`btrim(${stored}, ${BLANKS}) <> ''` : sql`${stored} <> ''`,
    holds: (held: string) => held !== "",
  }),
});

/** More ends than this are not compared one by one. */
const MOST_PATTERNS = 10;

/** Many ends are grouped by length and looked up together: a thousand are as fast as ten. */
function endsWithAny(source: TextSource, ends: readonly string[]): Sql {
  const text = trimmed("rtrim", source);
  const branches =
    ends.length <= MOST_PATTERNS
      ? ends.map((end) => {
          const isEnd = sql`${text} like ${`%${escapeLike(end)}`}`;
          return source.form === "json"
            ? sql`(${holdsPart(source, end)} and ${isEnd})`
            : ifHeld(source, end, isEnd);
        })
      : Array.from(
          Map.groupBy(ends, (end) => Array.from(end).length),
          ([length, some]) => sql`right(${text}, ${length}) = any(${some}::text[])`,
        );
  return join(branches, " or ");
}

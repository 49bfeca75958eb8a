/**
 * Custom fields of the types select and multiselect. A rule names choices without regard to case; they are looked for
 * as they are stored, which an index answers.
 */
import sql, { join, type Sql } from "sql-template-tag";
import { kind, type Moment, not, type Operator, presence } from "./operator.ts";
import { readRuleText, readRuleTexts } from "./rule-value.ts";
import { foldText } from "./text-kind.ts";

/** Where what was chosen stands in the row. */
export interface ChoiceSource {
  /** Whether one of these texts is the value, or among the values. */
  readonly isAmong: (wanted: readonly string[]) => Sql;
  readonly hasAny: Sql;
}

export interface ChoiceSetting extends Moment {
  readonly choices: readonly string[];
}

/** What one person has chosen. */
type Chosen = readonly string[];
type ChoiceOperator = Operator<Chosen, ChoiceSource, ChoiceSetting>;

const trimmed = (text: string) => text.trim();

/** The text as it was given, and the choices that are spelled like it. */
function spellingsOf(text: string, choices: readonly string[]): string[] {
  const folded = foldText(text);
  return [text, ...choices.filter((choice) => choice !== text && foldText(choice) === folded)];
}

const among = (texts: readonly string[], { choices }: ChoiceSetting) => {
  const wanted = [...new Set(texts.flatMap((text) => spellingsOf(text, choices)))];
  return {
    sql: ({ isAmong }: ChoiceSource) => isAmong(wanted),
    holds: (held: Chosen) => held.some((choice) => wanted.includes(choice)),
  };
};

const one: ChoiceOperator = {
  read: (value, setting) => readRuleText(value, trimmed, (text) => among([text], setting)),
};
const oneOf: ChoiceOperator = {
  read: (value, setting) => readRuleTexts(value, trimmed, (texts) => among(texts, setting)),
};
const common = {
  in: oneOf,
  is_one_of: oneOf,
  is_not_one_of: not(oneOf),
  ...presence({
    sql: ({ hasAny }: ChoiceSource) => hasAny,
    holds: (held: Chosen) => held.some((choice) => choice !== ""),
  }),
};

export const selectKind = kind<Chosen, ChoiceSource, ChoiceSetting>("a choice", {
  equals: one,
  not_equals: not(one),
  is: one,
  is_not: not(one),
  ...common,
});

/** Of several choices one is asked for: `contains` it, or is there one of these? */
export const multiselectKind = kind<Chosen, ChoiceSource, ChoiceSetting>("several choices", {
  contains: one,
  ...common,
});

/** More alternatives than this are not asked of the index one by one. */
const MOST_PROBES = 20;

/** A select in the row's custom fields, which holds one text. */
export function selectSource(name: string): ChoiceSource {
  const isText = sql`jsonb_typeof(s.custom_fields -> ${name}::text) = 'string'`;
  return {
    isAmong: (wanted) =>
      wanted.length <= MOST_PROBES
        ? containsAny(wanted.map((choice) => ({ [name]: choice })))
        : sql`${isText} and s.custom_fields ->> ${name}::text = any(${wanted}::text[])`,
    hasAny: sql`${isText} and s.custom_fields ->> ${name}::text <> ''`,
  };
}

/** A multiselect in the row's custom fields, which holds an array of texts. */
export function multiselectSource(name: string): ChoiceSource {
  const isArray = sql`jsonb_typeof(s.custom_fields -> ${name}::text) = 'array'`;
  return {
    isAmong: (wanted) =>
      wanted.length <= MOST_PROBES
        ? containsAny(wanted.map((choice) => ({ [name]: [choice] })))
        : sql`${isArray} and s.custom_fields -> ${name}::text ?| ${wanted}::text[]`,
    hasAny: sql`${isArray} and jsonb_path_exists(s.custom_fields -> ${name}::text,
      '$[*] ? (@.type() == "string" && @ != "")')`,
  };
}

function containsAny(parts: readonly object[]): Sql {
  return join(
    parts.map((part) => sql`s.custom_fields @> ${JSON.stringify(part)}::jsonb`),
    " or ",
  );
}

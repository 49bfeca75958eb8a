/**
 * Conditions on custom fields of the types select and multiselect. A rule may name choices in any case; they are
 * compared in their stored spelling, for which there is an index.
 */
import sql, { join, type Sql } from "sql-template-tag";
import { foldText } from "#platform/database/fold-text.ts";
import { kind, type Moment, not, type Operator, presence } from "./operator.ts";
import { oneText, readRuleText, readRuleTexts, someTexts } from "./read-rule-value.ts";

/** The SQL of the chosen values in a row. */
export interface ChoiceSource {
  /** Whether one of these texts is the value, or among the values. */
  readonly isAmong: (wanted: readonly string[]) => Sql;
  readonly hasAny: Sql;
}

export interface ChoiceSetting extends Moment {
  readonly choices: readonly string[];
}

/** The choices of one person. */
type Chosen = readonly string[];
type ChoiceOperator = Operator<Chosen, ChoiceSource, ChoiceSetting>;

const trimmed = (text: string) => text.trim();

/** The text as given, and the choices that differ from it only in case. */
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
  takes: oneText,
  read: (value, setting) => readRuleText(value, trimmed, (text) => among([text], setting)),
};
const oneOf: ChoiceOperator = {
  takes: someTexts,
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

const isNot = not(one);

export const selectKind = kind<Chosen, ChoiceSource, ChoiceSetting>("choice", "a choice", {
  equals: one,
  not_equals: isNot,
  is: one,
  is_not: isNot,
  ...common,
});

/** Operators on several choices: `contains` one, or is one of these among them? */
export const multiselectKind = kind<Chosen, ChoiceSource, ChoiceSetting>("choices", "several choices", {
  contains: one,
  ...common,
});

/** With more alternatives the index is not used. */
const MOST_PROBES = 20;

/** A select in the row's custom fields: a text. */
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

/** A multiselect in the row's custom fields: an array of texts. */
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

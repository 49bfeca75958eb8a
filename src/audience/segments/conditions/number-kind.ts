/** Conditions on numbers: counts and scores of a person, and custom fields. */
import sql, { raw, type Sql } from "sql-template-tag";
import { kind, not, type Operator, presence } from "./operator.ts";

/** Compares the value in the row with a number. */
export type NumberSource = (comparison: Comparison, wanted: number) => Sql;

const comparisons = {
  "=": (held: number, wanted: number) => held === wanted,
  ">": (held: number, wanted: number) => held > wanted,
  "<": (held: number, wanted: number) => held < wanted,
  ">=": (held: number, wanted: number) => held >= wanted,
  "<=": (held: number, wanted: number) => held <= wanted,
};
export type Comparison = keyof typeof comparisons;

const compared = (comparison: Comparison): Operator<number, NumberSource> => ({
  takes: { type: "number", is_array: false },
  read: (value) =>
    typeof value === "number" && Number.isFinite(value)
      ? {
          sql: (compare) => compare(comparison, value),
          holds: (held) => comparisons[comparison](held, value),
        }
      : "must be a number",
});

export const numberKind = kind<number, NumberSource>("number", "a number", {
  equals: compared("="),
  not_equals: not(compared("=")),
  greater_than: compared(">"),
  less_than: compared("<"),
  greater_than_or_equal: compared(">="),
  less_than_or_equal: compared("<="),
  ...presence({ sql: (compare: NumberSource) => compare(">=", -Number.MAX_VALUE), holds: () => true }),
});

/** A column of whole numbers. */
export function columnNumbers(column: Sql): NumberSource {
  return (comparison, wanted) => sql`${column} ${raw(comparison)} ${wanted}::float8`;
}

/**
 * A number in the row's custom fields. A JSON path compares numbers with numbers only, so that other values cause
 * neither an error nor a match; `strict`, because otherwise it would look into arrays. Equality can use an index.
 */
export function customNumbers(name: string): NumberSource {
  return (comparison, wanted) =>
    comparison === "="
      ? sql`s.custom_fields @> ${JSON.stringify({ [name]: wanted })}::jsonb`
      : sql`jsonb_path_match(s.custom_fields, ${`strict $.${JSON.stringify(name)} ${comparison} ${wanted}`}::jsonpath,
          silent => true)`;
}

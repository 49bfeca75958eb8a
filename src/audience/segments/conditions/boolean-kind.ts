/** Conditions on custom fields of the type boolean. */
import sql, { type Sql } from "sql-template-tag";
import { readBoolean } from "#audience/custom-fields/field-types.ts";
import { or } from "./combine-predicates.ts";
import { kind, not, type Operator, presence } from "./operator.ts";

/** Compares the value in the row with true or false. */
export type BooleanSource = (wanted: boolean) => Sql;

const is: Operator<boolean, BooleanSource> = {
  takes: { type: "boolean", is_array: false },
  read(value) {
    const reading = readBoolean(value);
    if (!reading.ok) return reading.message;
    const wanted = reading.value === true;
    return { sql: (compare) => compare(wanted), holds: (held) => held === wanted };
  },
};

const isNot = not(is);

export const booleanKind = kind<boolean, BooleanSource>("boolean", "yes or no", {
  is,
  is_not: isNot,
  equals: is,
  not_equals: isNot,
  ...presence({ sql: (compare: BooleanSource) => or([compare(true), compare(false)]), holds: () => true }),
});

/** A boolean in the row's custom fields. */
export function customBooleans(name: string): BooleanSource {
  return (wanted) => sql`s.custom_fields @> ${JSON.stringify({ [name]: wanted })}::jsonb`;
}

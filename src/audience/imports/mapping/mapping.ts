/** The mapping of an import: which field of the person each column of the file is for, as its sender says. */
import { type Static, Type } from "typebox";
import type { CustomField } from "#audience/custom-fields/custom-field.ts";
import type { ColumnMeaning } from "#audience/imports/opt-outs/read-cell.ts";
import { nullable } from "#platform/shapes.ts";

/** Columns of a file (src/platform/csv/read.ts). */
const MOST_COLUMNS = 1_000;
const LONGEST_NAME = 1_000;

export const CUSTOM_PREFIX = "custom_fields.";

/** Fields of a person that one column gives. */
export const plainTargets = ["email", "first_name", "last_name", "source"] as const;
export type PlainTarget = (typeof plainTargets)[number];

/**
 * Targets of columns that say who gets no mail, with the meaning of the column. Several columns may have the same one: the
 * worst of what they say counts.
 */
export const stateTargets = {
  status: "status",
  opted_out: "unsubscribed",
  opted_in: "active",
  bounced: "bounced",
  complained: "complained",
} as const satisfies Record<string, ColumnMeaning>;
export type StateTarget = keyof typeof stateTargets;

export const isStateTarget = (field: string): field is StateTarget => Object.hasOwn(stateTargets, field);

const MappedColumn = Type.Object(
  {
    column: Type.Unsafe<string | number>({
      type: ["string", "integer"],
      minLength: 1,
      maxLength: LONGEST_NAME,
      minimum: 1,
      maximum: MOST_COLUMNS,
      description:
        "The column: its header as the file has it, or its position, counted from 1. A file without a header, a column without a name and two columns with the same name need positions.",
    }),
    field: nullable(
      Type.String({
        minLength: 1,
        maxLength: 200,
        description:
          "`email`, `first_name`, `last_name`, `source`, a custom field as `custom_fields.NAME` or by its id, or what the column says about mail: `status` (a word such as unsubscribed), `opted_out` (yes, or when), `opted_in` (yes or no), `bounced`, `complained`. Null: the column is not read, not even if it says who gets no mail.",
      }),
    ),
  },
  { $id: "ImportMappedColumn" },
);

export const ImportMapping = Type.Array(MappedColumn, {
  minItems: 1,
  maxItems: MOST_COLUMNS,
  description:
    "Which field each column is for, as JSON. One column must be for `email`. Other columns are not imported, but those that plainly say who gets no mail count as without a mapping. Without a mapping the header decides.",
});
export type ImportMapping = Static<typeof ImportMapping>;

/** The field of a mapping; undefined if the list has none of this name or id. */
export function customFieldOf(field: string, fields: readonly CustomField[]): CustomField | undefined {
  const id = field.toLowerCase();
  return fields.find((one) => one.id === id || `${CUSTOM_PREFIX}${one.field_name}` === field);
}

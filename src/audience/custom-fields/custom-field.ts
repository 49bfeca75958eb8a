/** Shapes of a custom field: as the API returns it, and as callers create and change it. */
import { type Static, Type } from "typebox";
import { Id, nullable, Timestamp } from "#platform/shapes.ts";
import { fieldTypes } from "./field-types.ts";

export const Option = Type.Union([
  Type.String(),
  Type.Object({ label: Type.String(), value: Type.String() }, { $id: "CustomFieldOption" }),
]);
export type Option = Static<typeof Option>;

export const Rules = Type.Object(
  {
    min: Type.Optional(Type.Number({ description: "Least number." })),
    max: Type.Optional(Type.Number({ description: "Greatest number." })),
    min_length: Type.Optional(Type.Integer({ minimum: 0, description: "Fewest characters of a text." })),
    max_length: Type.Optional(Type.Integer({ minimum: 0, description: "Most characters of a text." })),
    pattern: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 500,
        description: "Regular expression (RE2) to be found in the text.",
      }),
    ),
  },
  { $id: "CustomFieldRules", additionalProperties: false },
);
export type Rules = Static<typeof Rules>;

export const CustomField = Type.Object(
  {
    id: Id,
    mailing_list_id: nullable(Type.String({ format: "uuid", description: "Null: a field of every list." })),
    field_name: Type.String({ description: "Lower-case letters, digits, underscores; never changes." }),
    field_label: Type.String(),
    field_type: Type.Enum([...fieldTypes]),
    field_options: nullable(Type.Array(Option, { description: "Choices of select and multiselect." })),
    placeholder: nullable(Type.String()),
    default_value: Type.Unknown({ description: "Given to people who are added without one; null for none." }),
    help_text: nullable(Type.String()),
    validation_rules: nullable(Rules),
    is_required: Type.Boolean(),
    is_active: Type.Boolean({ description: "False: neither asked for nor checked." }),
    display_order: Type.Integer(),
    created_at: Timestamp,
    updated_at: Timestamp,
  },
  { $id: "CustomField" },
);
export type CustomField = Static<typeof CustomField>;

const text = (longest: number) => nullable(Type.String({ maxLength: longest }));

const inputs = {
  field_label: Type.String({ minLength: 1, maxLength: 200 }),
  field_type: Type.Enum([...fieldTypes]),
  field_options: Type.Unknown({
    description:
      "Array of choices (texts, or { label, value }), also as JSON text. Required for select, multiselect.",
  }),
  placeholder: text(500),
  default_value: Type.Unknown({ description: "A value of the field's type; null for none." }),
  help_text: text(2_000),
  validation_rules: Type.Unknown({
    description:
      "{ min, max } of a number, { min_length, max_length, pattern } of a text; also as JSON text.",
  }),
  is_required: Type.Boolean(),
  is_active: Type.Boolean(),
  display_order: Type.Integer({ minimum: 0, maximum: 1_000_000, description: "Last plus one when omitted." }),
};

export const CustomFieldChanges = Type.Object(
  {
    field_name: Type.Optional(Type.String({ description: "Must stay what it is." })),
    ...Type.Partial(Type.Object(inputs)).properties,
  },
  { $id: "CustomFieldChanges" },
);
export type CustomFieldChanges = Static<typeof CustomFieldChanges>;

export const NewCustomField = Type.Object(
  {
    ...CustomFieldChanges.properties,
    field_name: Type.String({
      minLength: 1,
      maxLength: 200,
      description: "Normalised: lower-case, blanks become underscores.",
    }),
    field_label: inputs.field_label,
    field_type: inputs.field_type,
  },
  { $id: "NewCustomField" },
);
export type NewCustomField = Static<typeof NewCustomField>;

/** Shapes of a custom field: as the API returns it, and as callers create and change it. */
import { type Static, Type } from "typebox";
import { UsedBy } from "#audience/uses/used-by.ts";
import { CreatedAt, described, Id, nullable, UpdatedAt } from "#platform/shapes.ts";
import { fieldTypes } from "./field-types.ts";

export const Option = Type.Union([
  Type.String(),
  Type.Object(
    {
      label: Type.String({ description: "What people see." }),
      value: Type.String({ description: "What is stored." }),
    },
    { $id: "CustomFieldOption" },
  ),
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
    id: described(Id, "Id of the custom field."),
    mailing_list_id: nullable(Type.String({ format: "uuid", description: "Null: a field of every list." })),
    field_name: Type.String({ description: "Lower-case letters, digits, underscores; never changes." }),
    field_label: Type.String({ description: "What people see." }),
    field_type: Type.Enum([...fieldTypes], { description: "What values it takes." }),
    field_options: nullable(Type.Array(Option, { description: "Choices of select and multiselect." })),
    placeholder: nullable(
      Type.String({ description: "Example shown in an empty field of a form; null for none." }),
    ),
    default_value: Type.Unknown({ description: "Given to people who are added without one; null for none." }),
    help_text: nullable(
      Type.String({ description: "Explanation beside the field of a form; null for none." }),
    ),
    validation_rules: nullable(described(Rules, "Limits of its values; null for none.")),
    is_required: Type.Boolean({ description: "Whether a new person needs a value." }),
    is_active: Type.Boolean({ description: "False: neither asked for nor checked." }),
    display_order: Type.Integer({ description: "Position among the fields of a form, ascending." }),
    created_at: CreatedAt,
    updated_at: UpdatedAt,
  },
  { $id: "CustomField" },
);
export type CustomField = Static<typeof CustomField>;

export const CustomFieldInUse = Type.Object(
  {
    ...CustomField.properties,
    used_by: described(
      UsedBy,
      "What uses it: rules of segments and of unfinished campaigns, the telephone numbers of unfinished SMS campaigns, dates of autoresponders, and imports under way. Merge tags are not searched.",
    ),
  },
  { $id: "CustomFieldInUse" },
);

const text = (maxLength: number, description: string) => nullable(Type.String({ maxLength, description }));

const inputs = {
  field_label: Type.String({ minLength: 1, maxLength: 200, description: "What people see." }),
  field_type: Type.Enum([...fieldTypes], {
    description: "What values it takes; a new type converts the stored values.",
  }),
  field_options: Type.Unknown({
    description:
      "Array of choices (texts, or { label, value }), also as JSON text. Required for select, multiselect.",
  }),
  placeholder: text(500, "Example shown in an empty field of a form; null for none."),
  default_value: Type.Unknown({ description: "A value of the field's type; null for none." }),
  help_text: text(2_000, "Explanation beside the field of a form; null for none."),
  validation_rules: Type.Unknown({
    description:
      "{ min, max } of a number, { min_length, max_length, pattern } of a text; also as JSON text.",
  }),
  is_required: Type.Boolean({ description: "Whether a new person needs a value." }),
  is_active: Type.Boolean({ description: "Whether it is asked for and checked." }),
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

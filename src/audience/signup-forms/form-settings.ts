/** What a form asks for and says: as the API shows it, as callers change it, and as it is stored. */
import { type Static, Type } from "typebox";
import type { CustomField } from "#audience/custom-fields/custom-field.ts";
import { invalid } from "#platform/errors.ts";
import { languages } from "#platform/languages/language.ts";
import { nullable } from "#platform/shapes.ts";
import { readHttpsUrl, readLine, readLines } from "#workspace/brand/read-shown-text.ts";

const LONGEST_TITLE = 200;
const LONGEST_TEXT = 2_000;
const LONGEST_BUTTON = 60;
const LONGEST_LABEL = 200;
const LONGEST_URL = 500;
const MOST_FIELDS = 30;
const MOST_LINES = 50;

/** The fields of a form that are not custom fields. */
export const nameFields = ["first_name", "last_name"] as const;
export type NameField = (typeof nameFields)[number];

/** The word for a form in the language that the browser asks for. */
export const VISITOR = "visitor";

const label = nullable(
  Type.String({ maxLength: LONGEST_LABEL, description: "Label on the form; null: that of the field." }),
);
const field = {
  field: Type.String({
    maxLength: 100,
    description: "first_name, last_name, or the field_name of a custom field of the list.",
  }),
  is_required: Type.Boolean({
    description:
      "Whether the form is refused without a value, or a box without a tick. Fields that the list requires are always required; a box without a tick is false.",
  }),
};

const text = (maxLength: number, description: string) => nullable(Type.String({ maxLength, description }));

const settings = {
  title: text(LONGEST_TITLE, "Title of the page; null: the name of the list."),
  description: text(LONGEST_TEXT, "Plain text above the fields; null for none."),
  button_text: text(LONGEST_BUTTON, "Text of the button; null: the one of the page's language."),
  consent_text: text(
    LONGEST_TEXT,
    "Wording of a box that must be ticked; null: there is none. It is kept with each confirmation, as proof.",
  ),
  language: nullable(
    Type.Enum([...languages, VISITOR], {
      description:
        "Language of the form and of what follows it; `visitor`: the one that the browser asks for; null: the list's. The query parameter `lang` of the page's URL names another one.",
    }),
  ),
  thank_you_url: text(
    LONGEST_URL,
    "https address to which the button of the confirmation leads; null: a page of the service.",
  ),
};

const fieldsText = `Fields besides the address, in their order, at most ${MOST_FIELDS}`;

/** The settings as the API shows them. */
export const formSettingShapes = {
  ...settings,
  fields: Type.Array(Type.Object({ ...field, label }, { $id: "SignupFormField" }), {
    description: `${fieldsText}.`,
  }),
};

/** The settings in the body of a change, all of which may be omitted. */
export const formChangeShapes = Type.Partial(
  Type.Object({
    ...settings,
    fields: Type.Array(
      Type.Object(
        { field: field.field, is_required: Type.Optional(field.is_required), label: Type.Optional(label) },
        { $id: "SignupFormFieldInput" },
      ),
      { maxItems: MOST_FIELDS, description: `${fieldsText}. It replaces all fields of the form.` },
    ),
  }),
).properties;

const FormSettings = Type.Object(formSettingShapes);
export type FormSettings = Static<typeof FormSettings>;
export type FormFieldSetting = FormSettings["fields"][number];
const FormChanges = Type.Object(formChangeShapes);

/** The settings of a form that was never changed. */
export const standardForm: FormSettings = {
  title: null,
  description: null,
  button_text: null,
  consent_text: null,
  language: null,
  thank_you_url: null,
  fields: nameFields.map((field) => ({ field, is_required: false, label: null })),
};

/**
 * The settings after a change; omitted ones stay.
 * @param defined the custom fields in force on the list
 * @throws ApiError VALIDATION_ERROR
 */
export function changedForm(
  held: FormSettings,
  given: Static<typeof FormChanges>,
  defined: readonly CustomField[],
): FormSettings {
  const line = (name: "title" | "button_text") =>
    given[name] === undefined ? held[name] : readLine(name, given[name]);
  const lines = (name: "description" | "consent_text") =>
    given[name] === undefined ? held[name] : readLines(name, given[name], MOST_LINES);
  const { language, thank_you_url: url, fields } = given;
  return {
    title: line("title"),
    description: lines("description"),
    button_text: line("button_text"),
    consent_text: lines("consent_text"),
    language: language === undefined ? held.language : language,
    thank_you_url: url === undefined ? held.thank_you_url : readHttpsUrl("thank_you_url", url),
    fields: fields === undefined ? held.fields : readFields(fields, defined),
  };
}

function readFields(
  given: NonNullable<Static<typeof FormChanges>["fields"]>,
  defined: readonly CustomField[],
): FormFieldSetting[] {
  const known = new Set<string>([...nameFields, ...defined.map(({ field_name }) => field_name)]);
  const seen = new Set<string>();
  return given.map(({ field, is_required = false, label = null }, index) => {
    const path = `fields[${index}].field`;
    if (!known.has(field)) {
      const message = `${path} must be first_name, last_name or an active custom field of the list`;
      throw invalid({ field: path, message });
    }
    if (seen.has(field)) throw invalid({ field: path, message: `${path} names a field for the second time` });
    seen.add(field);
    return { field, is_required, label: readLine(`fields[${index}].label`, label) };
  });
}

/** The fields of a form for one page: what is shown of them, and how what was typed into them is read. */
import type { CustomField } from "#audience/custom-fields/custom-field.ts";
import type { FieldValue } from "#audience/custom-fields/field-types.ts";
import { fieldReader } from "#audience/custom-fields/field-value-reader.ts";
import { LONGEST_PERSON_NAME, readNameField } from "#audience/subscribers/subscriber-input.ts";
import type { DateReader } from "#platform/dates/date-reader.ts";
import { ApiError } from "#platform/errors.ts";
import type { Texts } from "#workspace/texts/texts.ts";
import { type FormFieldSetting, type NameField, nameFields } from "./form-settings.ts";

/** What a person types into a form besides the address. */
export interface TypedValues {
  readonly first_name: string | null;
  readonly last_name: string | null;
  readonly custom_fields: Readonly<Record<string, FieldValue>>;
}

export interface FormField {
  readonly name: string;
  /** The name of its control: that of a custom field has a prefix, because it may be `page` or `email`. */
  readonly control: string;
  readonly label: string;
  readonly isRequired: boolean;
  /** Null for a person's name. */
  readonly definition: CustomField | null;
}

/** The prefix of the names of custom fields in a form. */
const PREFIX = "custom_fields.";

const nameLabels = { first_name: "signup_first_name", last_name: "signup_last_name" } as const;

/** The fields of the form that exist. @param defined the custom fields in force on the list */
export function formFields(
  settings: readonly FormFieldSetting[],
  defined: readonly CustomField[],
  texts: Texts,
): FormField[] {
  return existingFields(settings, defined).map(
    ({ field: name, is_required: isRequired, label, definition }) =>
      definition === null
        ? { name, control: name, label: label ?? texts.say(nameLabels[name]), isRequired, definition }
        : { name, control: PREFIX + name, label: label ?? definition.field_label, isRequired, definition },
  );
}

/** The settings of these fields, as the API shows them. */
export function shownFields(
  settings: readonly FormFieldSetting[],
  defined: readonly CustomField[],
): FormFieldSetting[] {
  return existingFields(settings, defined).map(({ field, is_required, label }) => ({
    field,
    is_required,
    label,
  }));
}

type ExistingField =
  | (FormFieldSetting & { readonly field: NameField; readonly definition: null })
  | (FormFieldSetting & { readonly definition: CustomField });

/** Without fields that were deleted or deactivated since; what the list requires is required. */
function existingFields(
  settings: readonly FormFieldSetting[],
  defined: readonly CustomField[],
): ExistingField[] {
  return settings.flatMap((setting): ExistingField[] => {
    const own = nameFields.find((name) => name === setting.field);
    if (own !== undefined) return [{ ...setting, field: own, definition: null }];
    const definition = defined.find(({ field_name }) => field_name === setting.field);
    if (definition === undefined) return [];
    // A box without a tick is a value, so that a list that requires one takes it, too.
    const isRequired = setting.is_required || (isWanted(definition) && definition.field_type !== "boolean");
    return [{ ...setting, is_required: isRequired, definition }];
  });
}

/** Whether the list cannot be joined without a value of the field. */
function isWanted({ is_required, default_value }: CustomField): boolean {
  return is_required && default_value === null;
}

/** The name of the first field that the list requires and the form does not ask for; undefined: people can join by the form. */
export function unaskedField(
  settings: readonly FormFieldSetting[],
  defined: readonly CustomField[],
): string | undefined {
  const asked = new Set(settings.map(({ field }) => field));
  return defined.find((field) => isWanted(field) && !asked.has(field.field_name))?.field_name;
}

/** The texts of a control: one, or one for each choice. */
export type TypedText = (control: string) => readonly string[];

export function typedText(fields: URLSearchParams): TypedText {
  return (control) => fields.getAll(control).slice(0, MOST_CHOICES);
}

/** What a form that was read before shows. */
export function textOfValues({ first_name, last_name, custom_fields }: TypedValues): TypedText {
  const names: Readonly<Record<string, string | null>> = { first_name, last_name };
  return (control) => {
    if (!control.startsWith(PREFIX)) return [names[control] ?? ""];
    const name = control.slice(PREFIX.length);
    const value = Object.hasOwn(custom_fields, name) ? custom_fields[name] : undefined;
    return value === undefined ? [] : Array.isArray(value) ? value : [String(value)];
  };
}

const MOST_CHOICES = 1_000;
/** Control characters other than tab, line feed and carriage return. */
const control = /[^\P{Cc}\t\n\r]/u;

/** The values, or a sentence about the first field that is wrong. */
export function readTypedValues(
  fields: readonly FormField[],
  typed: TypedText,
  dates: DateReader,
  texts: Texts,
): TypedValues | { readonly fault: string } {
  const names: Record<NameField, string | null> = { first_name: null, last_name: null };
  const values = new Map<string, FieldValue>();
  for (const field of fields) {
    const given = typed(field.control).map((text) => text.toWellFormed().replaceAll("\r\n", "\n"));
    const bad = { fault: texts.say("signup_bad_value", { field: field.label }) };
    if (given.some((text) => control.test(text))) return bad;
    const own = nameFields.find((name) => name === field.name);
    const read =
      own === undefined ? readValue(field.definition, given, dates) : readName(own, given[0] ?? "");
    if (read === BAD) return bad;
    if (field.isRequired && (read === null || read === false)) {
      return { fault: texts.say("signup_missing", { field: field.label }) };
    }
    if (own !== undefined) names[own] = read === null ? null : String(read);
    else if (read !== null) values.set(field.name, read);
  }
  return { ...names, custom_fields: Object.fromEntries(values) };
}

const BAD = Symbol("a value that the field does not take");

function readName(field: NameField, text: string): string | null | typeof BAD {
  try {
    return readNameField(field, text.slice(0, LONGEST_PERSON_NAME).toWellFormed());
  } catch (fault) {
    if (!(fault instanceof ApiError)) throw fault;
    return BAD;
  }
}

function readValue(
  definition: CustomField | null,
  given: readonly string[],
  dates: DateReader,
): FieldValue | null | typeof BAD {
  if (definition === null) return null;
  const texts = given.filter((text) => text.trim() !== "");
  // A box that is not ticked is not sent.
  if (definition.field_type === "boolean" && texts.length === 0) return false;
  const value = definition.field_type === "multiselect" ? texts : texts[0]?.trim();
  if (value === undefined || value.length === 0) return null;
  const reading = fieldReader(definition, dates)(value);
  return reading.ok ? reading.value : BAD;
}

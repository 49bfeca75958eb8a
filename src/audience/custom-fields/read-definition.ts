/** Checks the definition of a custom field as a whole: options, rules and default must fit the type. */
import { Type } from "typebox";
import { DateReader } from "#platform/dates/date-reader.ts";
import { invalid } from "#platform/errors.ts";
import { parsedJson } from "#platform/http/request/json-body.ts";
import { bodyReader } from "#platform/http/request/validate.ts";
import { type CustomField, type CustomFieldChanges, Option, Rules } from "./custom-field.ts";
import { rulesOf, typeTable } from "./field-types.ts";
import { choiceOf, fieldReader } from "./field-value-reader.ts";
import { compilePattern } from "./validation-pattern.ts";

/** The settings of a field that a caller chooses; the store sets display_order when it is null. */
export type FieldSettings = Pick<
  CustomField,
  | "field_label"
  | "field_type"
  | "field_options"
  | "placeholder"
  | "default_value"
  | "help_text"
  | "validation_rules"
  | "is_required"
  | "is_active"
> & { readonly display_order: number | null };

export const MOST_OPTIONS = 500;
export const LONGEST_OPTION = 200;

const checkOptions = bodyReader(
  Type.Object({ field_options: Type.Array(Option, { minItems: 1, maxItems: MOST_OPTIONS }) }),
);
const checkRules = bodyReader(Type.Object({ validation_rules: Rules }));

/**
 * The settings after a change; omitted ones stay.
 * @param timeZone of the workspace, for a default that is a time
 * @throws ApiError VALIDATION_ERROR
 */
export function readDefinition(
  held: FieldSettings,
  given: CustomFieldChanges,
  timeZone: string,
): FieldSettings {
  const field_label = (given.field_label ?? held.field_label).trim();
  if (field_label === "") throw invalid({ field: "field_label", message: "field_label must not be empty" });
  const field_type = given.field_type ?? held.field_type;
  const settings = {
    field_label,
    field_type,
    field_options: readOptions(field_type, given.field_options ?? held.field_options),
    placeholder: given.placeholder === undefined ? held.placeholder : given.placeholder,
    help_text: given.help_text === undefined ? held.help_text : given.help_text,
    validation_rules: readRules(
      field_type,
      given.validation_rules === undefined ? held.validation_rules : given.validation_rules,
    ),
    is_required: given.is_required ?? held.is_required,
    is_active: given.is_active ?? held.is_active,
    display_order: given.display_order ?? held.display_order,
  };
  const wanted = given.default_value === undefined ? held.default_value : given.default_value;
  return { ...settings, default_value: readDefault(settings, wanted, timeZone) };
}

function readOptions(type: CustomField["field_type"], given: unknown): CustomField["field_options"] {
  if (!typeTable[type].hasChoices) return null;
  const fault = (message: string) => invalid({ field: "field_options", message: `field_options ${message}` });
  if (given === undefined || given === null) throw fault(`is required for the type ${type}`);
  const { field_options } = checkOptions({ field_options: parsedJson("field_options", given) });
  const values = field_options.map(choiceOf);
  if (values.some((value) => value === "" || value !== value.trim() || value.length > LONGEST_OPTION)) {
    throw fault(`must be texts of 1 to ${LONGEST_OPTION} characters without blanks around them`);
  }
  if (new Set(values).size < values.length) throw fault("must not repeat a choice");
  // A semicolon separates the choices in a CSV cell.
  if (type === "multiselect" && values.some((value) => value.includes(";"))) {
    throw fault("of a multiselect must not hold semicolons");
  }
  return field_options;
}

function readRules(type: CustomField["field_type"], given: unknown): Rules | null {
  if (given === null) return null;
  const rules = checkRules({ validation_rules: parsedJson("validation_rules", given) }).validation_rules;
  const fault = (name: string, message: string) =>
    invalid({ field: `validation_rules.${name}`, message: `validation_rules.${name} ${message}` });
  const fitting: readonly string[] = rulesOf[typeTable[type].rules];
  const stray = Object.keys(rules).find((name) => !fitting.includes(name));
  if (stray !== undefined) throw fault(stray, `does not fit the type ${type}`);
  const { min, max, min_length, max_length, pattern } = rules;
  if (min !== undefined && max !== undefined && min > max) throw fault("min", "must not be above max");
  if (min_length !== undefined && max_length !== undefined && min_length > max_length) {
    throw fault("min_length", "must not be above max_length");
  }
  const compiled = pattern === undefined ? undefined : compilePattern(pattern);
  if (compiled?.ok === false) throw fault("pattern", compiled.message);
  return rules;
}

function readDefault(
  settings: Omit<FieldSettings, "default_value">,
  given: unknown,
  timeZone: string,
): unknown {
  if (given === null || given === "") return null;
  const reading = fieldReader(settings, new DateReader({ timeZone }))(given);
  if (!reading.ok) throw invalid({ field: "default_value", message: `default_value ${reading.message}` });
  return reading.value;
}

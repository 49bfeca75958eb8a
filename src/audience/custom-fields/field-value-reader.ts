/** Checks values against the definition of their custom field: type, choices, validation rules. */
import type { DateReader } from "#platform/dates/date-reader.ts";
import { isNoValue } from "#platform/missing-value-words.ts";
import type { CustomField, Option, Rules } from "./custom-field.ts";
import { Choices, type FieldValue, type ParsedValue, typeTable } from "./field-types.ts";
import { compilePattern } from "./validation-pattern.ts";

export type Definition = Pick<CustomField, "field_type" | "field_options" | "validation_rules">;

/** The stored value of a choice. */
export function choiceOf(option: Option): string {
  return typeof option === "string" ? option : option.value;
}

/** Compiles a definition that read-definition.ts has checked, once for many values. */
export function fieldReader(definition: Definition, dates: DateReader): (value: unknown) => ParsedValue {
  const type = typeTable[definition.field_type];
  const choices = new Choices(
    (definition.field_options ?? []).map((option) => ({
      value: choiceOf(option),
      label: typeof option === "string" ? option : option.label,
    })),
  );
  const breach = ruleChecker(definition.validation_rules ?? {});
  // "none" is a valid text; in other types such a word means no value, unless it is a choice.
  const mayBeNothing =
    type.rules !== "length" || definition.field_type === "email" || definition.field_type === "url";
  return (value) => {
    if (mayBeNothing && typeof value === "string" && isNoValue(value) && choices.find(value) === undefined)
      return { ok: true, value: null };
    const reading = type.read(value, choices, dates);
    if (!reading.ok || reading.value === null) return reading;
    const message = breach(reading.value);
    return message === undefined ? reading : { ok: false, message };
  };
}

/** Returns the rule that a value breaks, or undefined. Lengths are counted in code points. */
function ruleChecker(rules: Rules): (value: FieldValue) => string | undefined {
  const { min, max, min_length, max_length } = rules;
  const { pattern } = rules;
  const hasLengths = min_length !== undefined || max_length !== undefined;
  return (value) => {
    if (typeof value === "number") {
      if (min !== undefined && value < min) return `must be at least ${min}`;
      if (max !== undefined && value > max) return `must be at most ${max}`;
    }
    if (typeof value === "string") {
      const length = hasLengths ? Array.from(value).length : 0;
      if (min_length !== undefined && length < min_length)
        return `must have at least ${min_length} characters`;
      if (max_length !== undefined && length > max_length)
        return `must have at most ${max_length} characters`;
      // A pattern stored by an earlier version that is invalid now is ignored.
      const compiled = pattern === undefined ? undefined : compilePattern(pattern);
      if (compiled?.ok) return compiled.breach(value);
    }
    return undefined;
  };
}

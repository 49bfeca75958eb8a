/**
 * Finds the types of custom fields from all values of the people, so that no value keeps its person from coming: a type
 * that a value does not have is not chosen.
 */
import { type FieldType, LONGEST_TEXT_VALUE } from "#audience/custom-fields/field-types.ts";
import { fieldReader } from "#audience/custom-fields/field-value-reader.ts";
import { LONGEST_OPTION, MOST_OPTIONS } from "#audience/custom-fields/read-definition.ts";
import { DateReader } from "#platform/dates/date-reader.ts";
import type { DeclaredField, GivenValue } from "./source.ts";

export interface PlannedField {
  readonly field_name: string;
  readonly field_label: string;
  readonly field_type: FieldType;
  readonly field_options: readonly string[] | null;
}

const LONGEST_LABEL = 200;
/** Names that are surveyed; a workspace has fewer custom fields. */
const MOST_NAMES = 1_000;

const dates = new DateReader({ timeZone: "UTC" });
const isoDate =
  /^\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?:Z|[+-]\d{2}(?::?\d{2})?)?)?$/;
/** Not numbers such as 007 and +49: those are codes. Fifteen digits are exact. */
const plainNumber = /^-?(?:0|[1-9]\d{0,14})(?:\.\d{1,10})?$/;
/** Numbers of these fields are no amounts. */
const codeName =
  /(?:^|_)(?:phone|mobile|tel|telephone|fax|sms|whatsapp|zip|postal|postcode|plz|cap|cep|code|id|ip)(?:_|$)/;

/** What is known of the values of one field. */
class FieldEvidence {
  readonly #name: string;
  #label: string;
  #declared: DeclaredField | undefined;
  /** Types of text that every value so far has. */
  #isNumber = true;
  #isDate = true;
  #isBoolean = true;
  #hasTexts = false;
  #isMultiple = false;
  #longest = 0;
  #fitsDeclared = true;
  #readDeclared: ((value: unknown) => { readonly ok: boolean }) | undefined;
  /** Distinct values; undefined: too many for choices, or one that no choice can be. */
  #options: Set<string> | undefined = new Set();
  values = 0;

  constructor(name: string, label: string) {
    this.#name = name;
    this.#label = label;
    this.#isNumber = !codeName.test(name);
  }

  declare(field: DeclaredField): void {
    this.#label = field.label;
    // Values that came before were not compared with this type: what they are decides.
    if (this.values > 0 && this.#declared?.type !== field.type) this.#fitsDeclared = false;
    this.#declared = field;
    for (const option of field.options ?? []) this.#noteOption(option);
    const hasChoices = field.type === "select" || field.type === "multiselect";
    if (!hasChoices) {
      const definition = { field_type: field.type, field_options: null, validation_rules: null };
      this.#readDeclared = fieldReader(definition, dates);
    }
  }

  note(value: GivenValue): void {
    this.values++;
    if (typeof value === "object") {
      this.#isMultiple = true;
      for (const one of value) this.#noteOption(one);
      this.#longest = Math.max(this.#longest, value.join(", ").length);
      return;
    }
    if (typeof value === "string") {
      this.#hasTexts = true;
      this.#isBoolean = false;
      this.#isNumber &&= plainNumber.test(value);
      this.#isDate &&= isoDate.test(value) && dates.read(value).kind !== "fault";
    } else {
      this.#isDate = false;
      this.#isNumber &&= typeof value === "number";
      this.#isBoolean &&= typeof value === "boolean";
    }
    const text = String(value);
    this.#longest = Math.max(this.#longest, text.length);
    this.#noteOption(text);
    this.#fitsDeclared &&= this.#readDeclared?.(value).ok ?? true;
  }

  #noteOption(text: string): void {
    const option = text.trim();
    if (option === "" || this.#options === undefined) return;
    const isUsable = option.length <= LONGEST_OPTION && !option.includes(";") && !/\p{Cc}/u.test(option);
    this.#options.add(option);
    if (!isUsable || this.#options.size > MOST_OPTIONS) this.#options = undefined;
  }

  plan(): PlannedField {
    const type = this.#type();
    const hasChoices = type === "select" || type === "multiselect";
    return {
      field_name: this.#name,
      field_label:
        this.#label
          .replaceAll(/\p{Cc}+/gu, " ")
          .trim()
          .slice(0, LONGEST_LABEL)
          .toWellFormed() || this.#name,
      field_type: type,
      field_options: hasChoices ? [...(this.#options ?? [])] : null,
    };
  }

  #type(): FieldType {
    const declared = this.#declared?.type;
    const text: FieldType = this.#longest > LONGEST_TEXT_VALUE ? "textarea" : "text";
    const hasOptions = this.#options !== undefined && this.#options.size > 0;
    if (this.#isMultiple || declared === "multiselect") return hasOptions ? "multiselect" : text;
    if (declared === "select") return hasOptions ? "select" : text;
    if (declared !== undefined) return this.#fitsDeclared && declared !== "text" ? declared : text;
    if (this.values === 0) return text;
    if (this.#isBoolean && !this.#hasTexts) return "boolean";
    if (this.#isNumber) return "number";
    return this.#isDate ? "date" : text;
  }
}

/** The custom fields of all people. */
export class FieldSurvey {
  readonly #fields = new Map<string, FieldEvidence>();

  declare(name: string, field: DeclaredField): void {
    this.#evidence(name, field.label)?.declare(field);
  }

  /** @returns false for a name beyond those that can be surveyed */
  note(name: string, label: string, value: GivenValue): boolean {
    const field = this.#evidence(name, label);
    field?.note(value);
    return field !== undefined;
  }

  /** The fields in which at least one person has a value. */
  plan(): PlannedField[] {
    return this.#fields
      .values()
      .filter(({ values }) => values > 0)
      .map((field) => field.plan())
      .toArray();
  }

  #evidence(name: string, label: string): FieldEvidence | undefined {
    const known = this.#fields.get(name);
    if (known !== undefined || this.#fields.size >= MOST_NAMES) return known;
    const made = new FieldEvidence(name, label);
    this.#fields.set(name, made);
    return made;
  }
}

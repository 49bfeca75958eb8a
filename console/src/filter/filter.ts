/** The words of a filter line: `status:bounced to:ada@example.com "free text"`, read into the parameters of an operation and back. */
import type parameters from "operation:listMessages";

export type Parameter = (typeof parameters)[number];

export interface FilterField {
  /** The parameter of the operation. */
  readonly parameter: Parameter;
  /** What people write: `to` for the parameter `email`. */
  readonly word: string;
}

export type FilterValues = Readonly<Record<string, string>>;

/** Parameters that turn pages and do not filter. */
const paging = new Set(["page", "limit", "after", "sort", "order"]);

/** @param words what people write for parameters whose names say less */
export function filterFields(
  parameters: readonly Parameter[],
  words: Readonly<Record<string, string>>,
): readonly FilterField[] {
  return parameters
    .filter(({ name }) => !paging.has(name))
    .map((parameter) => ({ parameter, word: words[parameter.name] ?? parameter.name }));
}

/** One word of the line as a condition, or the reason why it is none. */
export type ReadWord = { readonly field: FilterField; readonly value: string } | { readonly fault: string };

/** @param free the parameter that a word without a name is for */
export function readWord(word: string, fields: readonly FilterField[], free: string): ReadWord {
  const [, name, rest = ""] = /^([a-z_]+):(.*)$/is.exec(word) ?? [];
  const field = fields.find((one) =>
    name === undefined ? one.parameter.name === free : one.word === name.toLowerCase(),
  );
  if (field === undefined) return { fault: `There is no filter “${name}”` };
  const value = unquoted(name === undefined ? word : rest);
  if (value === "") return { fault: `${field.word}: needs a value` };
  const { enum: values, maxLength } = field.parameter;
  if (values && !values.includes(value)) return { fault: `${field.word} is one of ${values.join(", ")}` };
  if (maxLength !== undefined && value.length > maxLength)
    return { fault: `${field.word} has at most ${maxLength} characters` };
  const fault = formOf(field.parameter)?.faultOf(value);
  return fault ? { fault: `${field.word} is ${fault}` } : { field, value };
}

/** What a value has to look like, where the API says more than "text". */
interface Form {
  /** Shown while the value is typed. */
  readonly example: string;
  /** Follows "after is". */
  readonly faultOf: (value: string) => string | undefined;
}

const DAY = /^\d{4}-\d{2}-\d{2}$/;
const TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:\d{2})$/;

const day: Form = {
  example: "2026-03-01",
  faultOf: (value) => (DAY.test(value) && isReal(value) ? undefined : "a day such as 2026-03-01"),
};
const time: Form = {
  example: "2026-03-01T09:30:00Z",
  faultOf: (value) =>
    (DAY.test(value) || TIME.test(value)) && isReal(value)
      ? undefined
      : "a day such as 2026-03-01, or a time such as 2026-03-01T09:30:00Z",
};
const uuid: Form = {
  example: "0198c5a2-…",
  faultOf: (value) => (/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(value) ? undefined : "a whole id"),
};

function formOf({ format, description }: Parameter): Form | undefined {
  if (format === "uuid") return uuid;
  if (format === "date") return day;
  // Parameters that take a day as well as a time have no format, but an example.
  return format === "date-time" || /\d{4}-\d{2}-\d{2}T/.test(description) ? time : undefined;
}

/** Whether the day is in the calendar: 30 February is none. */
function isReal(value: string): boolean {
  const [date = ""] = value.split("T");
  const at = new Date(`${date}T00:00:00Z`);
  return !Number.isNaN(Date.parse(value)) && at.toISOString().startsWith(date);
}

const sizes = [50, 100, 200] as const;

/** The rows of a page to choose from, as far as the parameter `limit` goes. */
export function pageSizes(parameters: readonly Parameter[]): readonly number[] {
  const most = parameters.find(({ name }) => name === "limit")?.maximum;
  return most === undefined ? [] : sizes.filter((size) => size <= most);
}

/** The words of a line: a new one begins at each name of a filter, so that a value may have blanks. */
export function wordsOf(line: string, fields: readonly FilterField[]): readonly string[] {
  const names = fields.map(({ word }) => word).join("|");
  return line
    .split(new RegExp(`\\s+(?=(?:${names}):)`, "i"))
    .map((word) => word.trim())
    .filter((word) => word !== "");
}

export function writeWord({ word }: FilterField, value: string): string {
  return `${word}:${/\s/.test(value) ? `"${value}"` : value}`;
}

function unquoted(text: string): string {
  return text.trim().replace(/^"(.*)"$/s, "$1");
}

export interface Suggestion {
  readonly text: string;
  readonly explanation: string;
  /** A name wants a value still; a whole word is taken as it is. */
  readonly isWhole: boolean;
  /** The whole filter, of a suggestion that replaces it. */
  readonly all?: FilterValues;
}

const MOST_SUGGESTIONS = 12;

/** What may follow what has been typed: names of filters, then their values. */
export function suggestionsFor(
  typed: string,
  fields: readonly FilterField[],
  set: FilterValues,
): readonly Suggestion[] {
  const [, name, rest = ""] = /^([a-z_]+):(.*)$/is.exec(typed) ?? [];
  const field = fields.find(({ word }) => word === name?.toLowerCase());
  if (field) {
    const form = formOf(field.parameter);
    if (form && rest === "")
      return [{ text: `${field.word}:${form.example}`, explanation: "is its form", isWhole: false }];
    return (field.parameter.enum ?? [])
      .filter((value) => value.toLowerCase().startsWith(rest.toLowerCase()))
      .map((value) => ({ text: `${field.word}:${value}`, explanation: "", isWhole: true }));
  }
  return fields
    .filter(
      ({ word, parameter }) => word.startsWith(typed.toLowerCase()) && set[parameter.name] === undefined,
    )
    .map(({ word, parameter }) => ({
      text: `${word}:`,
      explanation: firstSentence(parameter.description),
      isWhole: false,
    }))
    .slice(0, MOST_SUGGESTIONS);
}

function firstSentence(text: string): string {
  return /^.*?\.(?=\s|$)/s.exec(text)?.[0] ?? text;
}

interface KnownProperty {
  readonly type?: string | readonly string[];
  readonly format?: string;
}

/** The conditions that a body of the API knows (`properties` of its schema), in its types. */
export function valuesWithin(
  values: Readonly<Record<string, unknown>>,
  properties: Readonly<Record<string, KnownProperty>>,
): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(values).flatMap(([name, value]) => {
      const known = properties[name];
      return known === undefined ? [] : [[name, typedAs(known, String(value))] as const];
    }),
  );
}

function typedAs({ type, format }: KnownProperty, value: string): string | number | boolean {
  const types = [type].flat();
  if (types.includes("boolean")) return value === "true";
  if (types.includes("integer")) return Number(value);
  const time = Date.parse(value);
  return format === "date-time" && !Number.isNaN(time) ? new Date(time).toISOString() : value;
}

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
  return { field, value };
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

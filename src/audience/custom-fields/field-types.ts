/**
 * The nine types of custom fields. Each entry reads a value from JSON or from a CSV cell (always text) into its stored
 * form, or says what is expected. A new type is a new entry.
 */
import { Big } from "big.js";
import { parseAddress } from "#mail/address.ts";
import { type DateReader, dateFaults } from "#platform/dates/date-reader.ts";
import { isNoValue } from "#platform/missing-value-words.ts";
import { readYesNo } from "./yes-no.ts";

export const fieldTypes = [
  "text",
  "textarea",
  "number",
  "date",
  "email",
  "url",
  "boolean",
  "select",
  "multiselect",
] as const;
export type FieldType = (typeof fieldTypes)[number];

/** The stored value, as JSON. A date is `YYYY-MM-DD`; with a time it is an ISO 8601 instant in UTC. */
export type FieldValue = string | number | boolean | readonly string[];

/** A value of null means "not given": a zero date. A message completes "<field> …". */
export type ParsedValue =
  | { readonly ok: true; readonly value: FieldValue | null }
  | { readonly ok: false; readonly message: string };

/** The validation rules that a type can have. */
export const rulesOf = {
  length: ["min_length", "max_length", "pattern"],
  size: ["min", "max"],
  none: [],
} as const;

interface TypeEntry {
  /** Reads a value that is neither null nor empty text. `choices` are those of select and multiselect. */
  read(value: unknown, choices: Choices, dates: DateReader): ParsedValue;
  readonly rules: keyof typeof rulesOf;
  readonly hasChoices?: true;
}

export const LONGEST_TEXT_VALUE = 1_000;
const LONGEST_TEXTAREA = 10_000;
const LONGEST_URL = 2_048;

export const typeTable: Readonly<Record<FieldType, TypeEntry>> = {
  text: { rules: "length", read: (value) => readText(value, LONGEST_TEXT_VALUE) },
  textarea: { rules: "length", read: (value) => readText(value, LONGEST_TEXTAREA) },
  number: { rules: "size", read: readNumber },
  date: { rules: "none", read: readDate },
  email: { rules: "length", read: readEmail },
  url: { rules: "length", read: readUrl },
  boolean: { rules: "none", read: readBoolean },
  select: { rules: "none", hasChoices: true, read: readChoice },
  multiselect: { rules: "none", hasChoices: true, read: readChoices },
};

const ok = (value: FieldValue | null): ParsedValue => ({ ok: true, value });
const refused = (message: string): ParsedValue => ({ ok: false, message });

function readText(value: unknown, longest: number): ParsedValue {
  if (typeof value !== "string") return refused("must be text");
  return value.length > longest ? refused(`must be at most ${longest} characters`) : ok(value);
}

const decimal = /^[+-]?(\d{1,300}(\.\d{0,300})?|\.\d{1,300})(e[+-]?\d{1,3})?$/i;

function readNumber(value: unknown): ParsedValue {
  const text = typeof value === "string" ? value.trim() : "";
  const number = decimal.test(text) ? Number(text) : value;
  if (typeof number === "number" && Number.isFinite(number)) {
    return isKept(text, number)
      ? ok(number)
      : refused(`must have fewer digits: as a number it would become ${number}`);
  }
  const hasComma = decimal.test(text.replace(",", "."));
  return refused(hasComma ? "must be a number, with a point as in 1.5" : "must be a number");
}

/**
 * Whether the number keeps all digits of the text. A whole number may be an identifier and must keep its last digit; a
 * fraction may be rounded.
 */
function isKept(text: string, number: number): boolean {
  return text === "" || !Number.isInteger(number) || Big(text.replace(/^\+/, "")).eq(number);
}

function readDate(value: unknown, _choices: Choices, dates: DateReader): ParsedValue {
  const reading = dates.read(value);
  switch (reading.kind) {
    case "day":
      return ok(reading.day);
    case "moment":
      return ok(reading.at.toISOString());
    case "nothing":
      return ok(null);
    case "fault":
      return refused(dateFaults[reading.fault]);
  }
}

function readEmail(value: unknown): ParsedValue {
  const address = typeof value === "string" ? parseAddress(value) : undefined;
  return address?.ok ? ok(address.address) : refused("must be an email address");
}

function readUrl(value: unknown): ParsedValue {
  const text = typeof value === "string" ? value.trim() : "";
  const url = text.length <= LONGEST_URL && URL.canParse(text) ? new URL(text) : undefined;
  return url !== undefined && /^https?:$/.test(url.protocol)
    ? ok(text)
    : refused("must be a web address that begins with https:// or http://");
}

export function readBoolean(value: unknown): ParsedValue {
  const text = typeof value === "number" ? String(value) : value;
  const known = typeof text === "string" ? readYesNo(text) : text;
  return typeof known === "boolean" ? ok(known) : refused("must be true or false");
}

/** The text without differences in case, blanks and Unicode form. */
const folded = (text: string) => text.normalize("NFKC").toLowerCase().replaceAll(/\s+/g, " ").trim();

/** Longer than any choice, and more than any field has. */
const LONGEST_CHOICE = 10_000;
const MOST_CHOICES = 1_000;
/** Limit of a text that names several choices. */
const LONGEST_CHOICES = 65_536;

/** The choices of a field, found by value or label, exactly or with differences in case, blanks and Unicode form. */
export class Choices {
  readonly values: readonly string[];
  /** The value by folded value or label; null if it is ambiguous. */
  readonly #byFolded = new Map<string, string | null>();

  constructor(options: readonly { readonly value: string; readonly label: string }[]) {
    this.values = options.map(({ value }) => value);
    for (const { value, label } of options) {
      for (const key of new Set([folded(value), folded(label)])) {
        const other = this.#byFolded.get(key);
        this.#byFolded.set(key, other === undefined || other === value ? value : null);
      }
    }
  }

  /** The value of the choice that a text names; undefined if it names none, or is ambiguous. */
  find(text: string): string | undefined {
    if (text.length > LONGEST_CHOICE) return undefined;
    const exact = text.trim();
    return this.values.find((value) => value === exact) ?? this.#byFolded.get(folded(text)) ?? undefined;
  }

  /** Whether a value or label contains the character. */
  hold(character: string): boolean {
    return this.#byFolded.keys().some((key) => key.includes(character));
  }
}

function readChoice(value: unknown, choices: Choices): ParsedValue {
  const text = typeof value === "number" ? String(value) : value;
  const choice = typeof text === "string" ? choices.find(text) : undefined;
  return choice === undefined ? refused(`must be one of: ${listed(choices.values)}`) : ok(choice);
}

const separators = [";", "|", "\n", "\t", ",", "、", "/"];

const brackets = /^\s*(?:\[(.*)\]|\{(.*)\}|\((.*)\))\s*$/s;
const element = /\s*(?:"((?:[^"\\]|\\.)*)"|'((?:[^'\\]|\\.)*)'|([^,'"]*?))\s*(?:,|$)/suy;

/**
 * The elements of an array as PostgreSQL (`{a,"b, c"}`) or Python (`['a', 'b']`) write it; undefined for other texts.
 */
function arrayIn(text: string): string[] | undefined {
  const [, ...contents] = brackets.exec(text) ?? [];
  const content = contents.find((one) => one !== undefined);
  if (content === undefined) return undefined;
  const parts: string[] = [];
  for (element.lastIndex = 0; element.lastIndex < content.length; ) {
    const found = element.exec(content);
    if (found === null) return undefined;
    const [, double, single, bare = ""] = found;
    const quoted = (double ?? single)?.replaceAll(/\\(.)/gs, "$1");
    if (quoted !== undefined) parts.push(quoted);
    else if (!isNoValue(bare) && bare.trim() !== "") parts.push(bare);
  }
  return parts;
}

/** The parts of a text: elements of an array, or pieces between separators that no choice contains. */
function partsOf(text: string, choices: Choices): unknown[] {
  if (choices.find(text) !== undefined) return [text];
  if (/^\s*\[.*\]\s*$/s.test(text)) {
    try {
      return JSON.parse(text) as unknown[];
    } catch {
      // Not JSON: the array of another program, or brackets that are part of a choice.
    }
  }
  const array = arrayIn(text);
  if (array !== undefined) return array;
  const usable = separators.filter((one) => one === ";" || !choices.hold(one));
  return usable
    .reduce<string[]>((parts, one) => parts.flatMap((part) => part.split(one)), [text.normalize("NFKC")])
    .filter((part) => part.trim() !== "");
}

/** Reads an array, or a text with a common separator between the choices. */
function readChoices(value: unknown, choices: Choices): ParsedValue {
  if (typeof value === "string" && value.length > LONGEST_CHOICES) {
    return refused(`must be at most ${LONGEST_CHOICES} characters`);
  }
  const given = typeof value === "string" ? partsOf(value, choices) : value;
  if (!Array.isArray(given)) return refused("must be an array of its choices");
  if (given.length > MOST_CHOICES) return refused(`must name at most ${MOST_CHOICES} choices`);
  const chosen = new Set<string>();
  for (const one of given) {
    const reading = readChoice(one, choices);
    if (!reading.ok) return refused(`must be made of: ${listed(choices.values)}`);
    chosen.add(String(reading.value));
  }
  return ok([...chosen]);
}

const MOST_LISTED = 20;

function listed(choices: readonly string[]): string {
  return choices.slice(0, MOST_LISTED).join(", ") + (choices.length > MOST_LISTED ? ", …" : "");
}

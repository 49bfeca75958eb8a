/**
 * JSON bodies, bounded before they are built: a few bytes can be many elements, and each element costs time and memory
 * (json-scan.ts). PostgreSQL stores neither NUL nor half a surrogate pair in text or jsonb, so they are refused here, once,
 * for every endpoint; `__proto__` and `constructor.prototype` keys are dropped, so that no merge can reach
 * Object.prototype. An object that has a name twice is refused (RFC 8259 section 4): which one counts would be a guess,
 * and a program that checked the body before us may have guessed otherwise.
 */
import { ApiError, invalid } from "#platform/errors.ts";
import { type JsonScan, scanJson } from "./json-scan.ts";

/** Deeper than any body of the contract; a bound for whatever walks the value. */
const DEEPEST = 64;
/** Values and field names of a whole body. The largest that an endpoint has a use for are a few thousand. */
const MOST_ELEMENTS = 100_000;
/** In one object. The largest that an endpoint has a use for are the custom fields of a person, which may be 500. */
const MOST_NAMES = 2_000;
/** Names are compared with known ones, and shown in faults; nothing without quotes is as long. */
const LONGEST = { name: 1_000, word: 1_000 };
/** The same for JSON in a text field, which is parsed on the event loop. */
const MOST_IN_FIELD = 10_000;

/** Unstorable characters can only come as escapes: raw, the one is no JSON and the other no UTF-8. */
const unstorableEscape = /\\u(0000|d[89a-f])/i;

export const NO_UTF8 = "Send the body in UTF-8";
const NO_JSON = "The body is not valid JSON";

/** What a body may hold beyond what is taken everywhere. */
export interface JsonBodyOptions {
  /** Numbers that lose digits, or are none after all (1e400): only where no number of the body is kept. */
  readonly takesAnyNumber?: boolean | undefined;
}

/**
 * @throws ApiError VALIDATION_ERROR that says where the text stops being JSON, for a name that stands twice, or for more
 *   elements or levels than a body may have
 */
export function parseJsonBody(body: string, options: JsonBodyOptions = {}, most = MOST_ELEMENTS): unknown {
  return parseScanned(body, scanJson(body, most, DEEPEST, LONGEST), options, most);
}

/** The value of a body that has at most so many elements; undefined for one that has more, whatever else it is. */
export function parseFewElements(body: string, few: number): { readonly value: unknown } | undefined {
  const scan = scanJson(body, few, DEEPEST, LONGEST);
  return scan.elements > few ? undefined : { value: parseScanned(body, scan, {}, few) };
}

function parseScanned(
  body: string,
  { elements, depth, names, tooLong }: JsonScan,
  { takesAnyNumber = false }: JsonBodyOptions,
  most: number,
): unknown {
  if (elements > most) {
    const limit = most.toLocaleString("en");
    throw new ApiError("VALIDATION_ERROR", `The body has more than ${limit} values and field names together`);
  }
  if (depth > DEEPEST) {
    throw new ApiError("VALIDATION_ERROR", `The body is nested deeper than ${DEEPEST} levels`);
  }
  if (tooLong !== undefined) {
    const limit = LONGEST[tooLong].toLocaleString("en");
    const what = tooLong === "name" ? "field name" : "value without quotes";
    throw new ApiError("VALIDATION_ERROR", `The body has a ${what} of more than ${limit} characters`);
  }
  const text = body.startsWith("\uFEFF") ? body.slice(1) : body;
  if (text.trim() === "") return undefined;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (fault) {
    const why = fault instanceof Error ? fault.message : String(fault);
    throw new ApiError("VALIDATION_ERROR", `${NO_JSON}: ${why.slice(0, 200)}`);
  }
  const mayHoldThem = text.includes("\\u") && unstorableEscape.test(text);
  const fields = clean(value, mayHoldThem, takesAnyNumber ? () => false : isTooLarge);
  if (fields !== names) {
    throw new ApiError("VALIDATION_ERROR", "An object in the body has the same field twice");
  }
  return value;
}

/** A field that may come as JSON text, as what that text says. @throws ApiError VALIDATION_ERROR that names the field. */
export function parsedJson(field: string, given: unknown): unknown {
  if (typeof given !== "string") return given;
  try {
    return parseJsonBody(given, {}, MOST_IN_FIELD);
  } catch (fault) {
    if (!(fault instanceof ApiError)) throw fault;
    const [inside] = fault.details ?? [];
    if (inside) throw invalid({ field, message: `${field}: ${inside.message}` });
    const isNoJson = fault.message.startsWith(NO_JSON);
    throw invalid({
      field,
      message: isNoJson ? `${field} is not valid JSON` : fault.message.replace("The body", field),
    });
  }
}

/**
 * Walks with a stack of its own: the nesting is the attacker's choice.
 * @returns how many fields all objects together came with, those that are dropped included
 */
function clean(root: unknown, mayHoldThem: boolean, isRefused: (value: unknown) => boolean): number {
  let fields = 0;
  const open: { value: unknown; path: string }[] = [{ value: root, path: "" }];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { value, path } = next;
    if (isRefused(value)) throw tooLarge(path || "body");
    if (typeof value === "string") {
      if (mayHoldThem) requireStorable(value, path);
    } else if (typeof value === "object" && value !== null) {
      const entries = Object.entries(value);
      dropPrototype(value);
      if (!Array.isArray(value)) {
        fields += entries.length;
        if (entries.length > MOST_NAMES) throw tooManyNames(path || "body", entries.length);
      }
      for (const [key, child] of entries) {
        if (mayHoldThem) requireStorable(key, path);
        // Strings need a visit only for these characters; a long array of them, or of numbers, costs nothing otherwise.
        if (mayHoldThem || typeof child === "object" || isRefused(child)) {
          const step = Array.isArray(value) ? `[${key}]` : path === "" ? key : `.${key}`;
          open.push({ value: child, path: path + step });
        }
      }
    }
  }
  return fields;
}

function tooManyNames(field: string, names: number): ApiError {
  const [most, given] = [MOST_NAMES, names].map((count) => count.toLocaleString("en"));
  return invalid({ field, message: `${field} must have at most ${most} fields, and has ${given}` });
}

function isTooLarge(value: unknown): boolean {
  return typeof value === "number" && Math.abs(value) > Number.MAX_SAFE_INTEGER;
}

function tooLarge(field: string): ApiError {
  const message = `${field} must not be a number beyond ${Number.MAX_SAFE_INTEGER}, which would lose digits: send it as text`;
  return invalid({ field, message });
}

/** What a merge would take for the prototype of an object, or of its class. */
function dropPrototype(value: object): void {
  if (Object.hasOwn(value, "__proto__")) Reflect.deleteProperty(value, "__proto__");
  if (!Object.hasOwn(value, "constructor")) return;
  const { constructor: given } = value;
  if (typeof given === "object" && given !== null && Object.hasOwn(given, "prototype")) {
    Reflect.deleteProperty(value, "constructor");
  }
}

function requireStorable(text: string, path: string): void {
  if (!text.includes("\0") && text.isWellFormed()) return;
  const field = path || "body";
  throw invalid({ field, message: `${field} must not contain NUL characters or halves of surrogate pairs` });
}

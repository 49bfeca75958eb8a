/**
 * Parses JSON bodies with limits that are checked before parsing, because a few bytes can be many elements, each of which
 * costs time and memory (json-scan.ts). NUL and lone surrogates are refused for every endpoint, because PostgreSQL cannot
 * store them in text or jsonb. So are the fields `__proto__` and `constructor.prototype`: a later merge would change a
 * prototype. An object with a duplicate key is refused (RFC 8259 section 4): parsers differ in which value they use, so a
 * gateway that has checked the body may have seen another one.
 */
import { ApiError, invalid } from "#platform/errors.ts";
import { type JsonScan, scanJson } from "./json-scan.ts";

/** Levels of nesting; more than any endpoint needs. It bounds recursive code. */
const DEEPEST = 64;
/** Values and field names of a body. Endpoints need a few thousand. */
const MOST_ELEMENTS = 100_000;
/** Fields of one object. Endpoints need at most 500 (the custom fields of a person). */
const MOST_NAMES = 2_000;
/** Characters of a field name, and of a number or literal. */
const LONGEST = { name: 1_000, word: 1_000 };
/** MOST_ELEMENTS for JSON in a text field, which is parsed on the event loop. */
const MOST_IN_FIELD = 10_000;

/** NUL and surrogates can occur only as escapes: a raw NUL is not JSON, and a raw surrogate is not UTF-8. */
const unstorableEscape = /\\u(0000|d[89a-f])/i;

export const NO_UTF8 = "Send the body in UTF-8";
const NO_JSON = "The body is not valid JSON";

/** Exceptions from the usual checks. */
export interface JsonBodyOptions {
  /** Accepts numbers that lose digits or overflow (1e400); only for bodies whose numbers are not stored. */
  readonly takesAnyNumber?: boolean | undefined;
}

/** @throws ApiError VALIDATION_ERROR for invalid JSON, a duplicate key, or too many elements or levels */
export function parseJsonBody(body: string, options: JsonBodyOptions = {}, most = MOST_ELEMENTS): unknown {
  return parseScanned(body, scanJson(body, most, DEEPEST, LONGEST), options, most);
}

/** Parses a body of at most `few` elements; undefined for one with more, without any other check. */
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
  const fields = check(value, mayHoldThem, takesAnyNumber ? () => false : isTooLarge);
  if (fields !== names) {
    throw new ApiError("VALIDATION_ERROR", "An object in the body has the same field twice");
  }
  return value;
}

/** Parses a field that may be given as JSON text; other values are returned unchanged. @throws ApiError VALIDATION_ERROR */
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
 * Checks a value without recursion, because the client chooses the nesting.
 * @returns the number of fields of all objects
 */
function check(root: unknown, mayHoldThem: boolean, isRefused: (value: unknown) => boolean): number {
  let fields = 0;
  const open: { value: unknown; path: string }[] = [{ value: root, path: "" }];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { value, path } = next;
    if (isRefused(value)) throw tooLarge(path || "body");
    if (typeof value === "string") {
      if (mayHoldThem) requireStorable(value, path);
    } else if (typeof value === "object" && value !== null) {
      const entries = Object.entries(value);
      refusePrototype(value, path);
      if (!Array.isArray(value)) {
        fields += entries.length;
        if (entries.length > MOST_NAMES) throw tooManyNames(path || "body", entries.length);
      }
      for (const [key, child] of entries) {
        if (mayHoldThem) requireStorable(key, path);
        // Strings and numbers are visited only if needed, so that long arrays of them cost nothing.
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
  const message = `${field} must not be a number above ${Number.MAX_SAFE_INTEGER}, which would lose digits: send it as text`;
  return invalid({ field, message });
}

/** @throws ApiError VALIDATION_ERROR for a field by which a later merge could change a prototype */
function refusePrototype(value: object, path: string): void {
  if (Object.hasOwn(value, "__proto__")) throw reservedName(path, "__proto__");
  if (!Object.hasOwn(value, "constructor")) return;
  const { constructor: given } = value;
  if (typeof given === "object" && given !== null && Object.hasOwn(given, "prototype")) {
    throw reservedName(path, "constructor.prototype");
  }
}

function reservedName(path: string, name: string): ApiError {
  const field = path === "" ? name : `${path}.${name}`;
  return invalid({ field, message: `${field} is not allowed: use another name for the field` });
}

function requireStorable(text: string, path: string): void {
  if (!text.includes("\0") && text.isWellFormed()) return;
  const field = path || "body";
  throw invalid({ field, message: `${field} must not contain NUL characters or lone surrogates` });
}

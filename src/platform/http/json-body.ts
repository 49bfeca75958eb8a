/**
 * JSON bodies. PostgreSQL stores neither NUL nor half a surrogate pair in text or jsonb, so they are refused here,
 * once, for every endpoint; `__proto__` and `constructor.prototype` keys are dropped, so that no merge can reach
 * Object.prototype. An object that has a name twice is refused (RFC 8259 section 4): which one counts would be a guess,
 * and whoever checked the body before us may have guessed otherwise.
 */
import { ApiError, invalid } from "../errors.ts";

/** Deeper than any body of the contract; a bound for whatever walks the value. */
const DEEPEST = 64;

/** Unstorable characters can only come as escapes: raw, the one is no JSON and the other no UTF-8. */
const unstorableEscape = /\\u(0000|d[89a-f])/i;

/** What a body may hold beyond what is taken everywhere. */
export interface JsonBodyOptions {
  /** Numbers that lose digits, or are none after all (1e400): only where no number of the body is kept. */
  readonly takesAnyNumber?: boolean | undefined;
}

/** @throws ApiError VALIDATION_ERROR that says where the text stops being JSON, or for a name that stands twice. */
export function parseJsonBody(body: string, { takesAnyNumber = false }: JsonBodyOptions = {}): unknown {
  const text = body.startsWith("\uFEFF") ? body.slice(1) : body;
  if (text.trim() === "") return undefined;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (fault) {
    const why = fault instanceof Error ? fault.message : String(fault);
    throw new ApiError("VALIDATION_ERROR", `The body is not valid JSON: ${why.slice(0, 200)}`);
  }
  const names = clean(value, unstorableEscape.test(text), takesAnyNumber ? () => false : isTooLarge);
  if (countNames(text) !== names) {
    throw new ApiError("VALIDATION_ERROR", "An object in the body has the same field twice");
  }
  return value;
}

const BACKSLASH = 0x5c;
const COLON = 0x3a;
/** Space, tab, line feed, carriage return. */
const isBlank = (code: number) => code === 0x20 || code === 0x09 || code === 0x0a || code === 0x0d;

/** Strings before a colon, in text that is JSON: looks at quotes only, because most of a body is inside of strings. */
function countNames(text: string): number {
  let names = 0;
  for (let at = text.indexOf('"'); at >= 0; at = text.indexOf('"', at)) {
    at = endOfString(text, at);
    while (isBlank(text.charCodeAt(at))) at += 1;
    if (text.charCodeAt(at) === COLON) names += 1;
  }
  return names;
}

/** Where the text goes on behind the string whose opening quote stands there. */
function endOfString(text: string, open: number): number {
  for (let close = text.indexOf('"', open + 1); ; close = text.indexOf('"', close + 1)) {
    let before = close - 1;
    while (text.charCodeAt(before) === BACKSLASH) before -= 1;
    if ((close - before) % 2 === 1) return close + 1;
  }
}

/** A field that may come as JSON text, as what that text says. @throws ApiError VALIDATION_ERROR that names the field. */
export function parsedJson(field: string, given: unknown): unknown {
  if (typeof given !== "string") return given;
  try {
    return parseJsonBody(given);
  } catch (fault) {
    if (!(fault instanceof ApiError)) throw fault;
    const [inside] = fault.details ?? [];
    throw invalid({ field, message: inside ? `${field}: ${inside.message}` : `${field} is not valid JSON` });
  }
}

/**
 * Walks with a stack of its own: the nesting is the attacker's choice.
 * @returns how many fields all objects together came with, those that are dropped included
 */
function clean(root: unknown, mayHoldThem: boolean, isRefused: (value: unknown) => boolean): number {
  let fields = 0;
  const open: { value: unknown; path: string; depth: number }[] = [{ value: root, path: "", depth: 0 }];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { value, path, depth } = next;
    if (isRefused(value)) throw tooLarge(path || "body");
    if (typeof value === "string") {
      if (mayHoldThem) requireStorable(value, path);
    } else if (typeof value === "object" && value !== null) {
      if (depth === DEEPEST)
        throw new ApiError("VALIDATION_ERROR", `The body is nested deeper than ${DEEPEST} levels`);
      const entries = Object.entries(value);
      dropPrototype(value);
      if (!Array.isArray(value)) fields += entries.length;
      for (const [key, child] of entries) {
        if (mayHoldThem) requireStorable(key, path);
        // Strings need a visit only for these characters; a long array of them, or of numbers, costs nothing otherwise.
        if (mayHoldThem || typeof child === "object" || isRefused(child)) {
          const step = Array.isArray(value) ? `[${key}]` : path === "" ? key : `.${key}`;
          open.push({ value: child, path: path + step, depth: depth + 1 });
        }
      }
    }
  }
  return fields;
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

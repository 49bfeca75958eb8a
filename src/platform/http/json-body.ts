/**
 * JSON bodies. PostgreSQL stores neither NUL nor half a surrogate pair in text or jsonb, so they are refused here,
 * once, for every endpoint; `__proto__` and `constructor.prototype` keys are dropped, so that no merge can reach
 * Object.prototype.
 */
import { parse } from "secure-json-parse";
import { ApiError, invalid } from "../errors.ts";

/** Deeper than any body of the contract; a bound for whatever walks the value. */
const DEEPEST = 64;

/** Unstorable characters can only come as escapes: raw, the one is no JSON and the other no UTF-8. */
const unstorableEscape = /\\u(0000|d[89a-f])/i;

/** @throws ApiError VALIDATION_ERROR that says where the text stops being JSON. */
export function parseJsonBody(body: string): unknown {
  const text = body.startsWith("\uFEFF") ? body.slice(1) : body;
  if (text.trim() === "") return undefined;
  let value: unknown;
  try {
    value = mayNamePrototype(text)
      ? parse(text, { protoAction: "remove", constructorAction: "remove" })
      : JSON.parse(text);
  } catch (fault) {
    const why = fault instanceof Error ? fault.message : String(fault);
    throw new ApiError("VALIDATION_ERROR", `The body is not valid JSON: ${why.slice(0, 200)}`);
  }
  refuseUnstorable(value, unstorableEscape.test(text));
  return value;
}

/**
 * As plain text or by escapes. Hardly any body does, and to look for all spellings by regular expression is a tenth of
 * what accepting a message of 10 KB costs.
 */
function mayNamePrototype(text: string): boolean {
  return text.includes("__proto__") || text.includes("constructor") || text.includes("\\u");
}

/** Walks with a stack of its own: the nesting is the attacker's choice. */
function refuseUnstorable(root: unknown, mayHoldThem: boolean): void {
  const open: { value: unknown; path: string; depth: number }[] = [{ value: root, path: "", depth: 0 }];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { value, path, depth } = next;
    if (typeof value === "string") {
      if (mayHoldThem) requireStorable(value, path);
    } else if (typeof value === "object" && value !== null) {
      if (depth === DEEPEST)
        throw new ApiError("VALIDATION_ERROR", `The body is nested deeper than ${DEEPEST} levels`);
      for (const [key, child] of Object.entries(value)) {
        if (mayHoldThem) requireStorable(key, path);
        // Strings need a visit only for these characters; a long array of them costs nothing otherwise.
        if (mayHoldThem || typeof child === "object") {
          const step = Array.isArray(value) ? `[${key}]` : path === "" ? key : `.${key}`;
          open.push({ value: child, path: path + step, depth: depth + 1 });
        }
      }
    }
  }
}

function requireStorable(text: string, path: string): void {
  if (!text.includes("\0") && text.isWellFormed()) return;
  const field = path || "body";
  throw invalid({ field, message: `${field} must not contain NUL characters or halves of surrogate pairs` });
}

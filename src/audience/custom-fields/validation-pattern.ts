/**
 * Patterns in validation_rules. They are compiled by RE2, never by RegExp, whose time can grow exponentially with the
 * text. RE2 reads each character once and therefore has no look-around and no back-references. The cost of a character
 * grows with the pattern, so a larger pattern allows shorter texts only.
 */
import { RE2JS } from "re2js";
import { ExpiringMap } from "#platform/cache.ts";

/** Characters of a pattern. */
const LONGEST = 500;
/**
 * Instructions of a compiled pattern. `{900}` makes hundreds from a few characters, which also take long to compile.
 */
const LARGEST = 1_000;
/** Instructions times characters: 20 ms for the slowest pattern found. */
const MOST_WORK = 400_000;
const KEPT = 500;
const KEPT_MS = 600_000;

export type Pattern =
  | {
      readonly ok: true;
      /** The rule that a text breaks, as the end of a sentence; undefined when it matches. */
      readonly breach: (text: string) => string | undefined;
    }
  | { readonly ok: false; readonly message: string };

const compiled = new ExpiringMap<Pattern>(KEPT);

/**
 * Compiles a pattern, or returns it from a cache. It matches when it is found anywhere in the text, unless `^` and `$`
 * anchor it.
 */
export function compilePattern(source: string): Pattern {
  const known = compiled.get(source);
  if (known !== undefined) return known;
  const pattern = compile(source);
  if (source.length <= LONGEST) compiled.set(source, pattern, KEPT_MS);
  return pattern;
}

function compile(source: string): Pattern {
  if (source.length > LONGEST) return { ok: false, message: `must be at most ${LONGEST} characters` };
  try {
    const pattern = RE2JS.compile(source);
    const size = pattern.programSize();
    if (size > LARGEST) return { ok: false, message: "is too large: repeat less, or shorter parts" };
    const longest = Math.floor(MOST_WORK / size);
    return {
      ok: true,
      breach(text) {
        if (text.length > longest)
          return `must have at most ${longest} characters, as its pattern is so large`;
        return pattern.matcher(text).find() ? undefined : `must match ${source}`;
      },
    };
  } catch (fault) {
    const why = fault instanceof Error ? fault.message : String(fault);
    return { ok: false, message: `is not a pattern of RE2: ${why}` };
  }
}

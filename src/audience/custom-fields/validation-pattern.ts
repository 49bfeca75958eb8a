/**
 * Patterns that users write into validation_rules. They never reach RegExp, whose time can grow exponentially with the
 * text: RE2 reads each character once, and does without look-around and back-references for it. What a character costs
 * grows with the pattern, so a text may be the shorter the larger its pattern is: nobody else waits for long.
 */
import { RE2JS } from "re2js";
import { ExpiringMap } from "#platform/cache.ts";

/** A longer one is a program, not a rule. */
const LONGEST = 500;
/** Instructions. `{900}` makes hundreds of a few characters, and to compile those takes long as well. */
const LARGEST = 1_000;
/** Instructions times characters: 20 ms of the worst pattern that was found. */
const MOST_WORK = 400_000;
const KEPT = 500;
const KEPT_MS = 600_000;

export type Pattern =
  | {
      readonly ok: true;
      /** What is wrong with a text, as the end of a sentence; undefined when it matches. */
      readonly breach: (text: string) => string | undefined;
    }
  | { readonly ok: false; readonly message: string };

const compiled = new ExpiringMap<Pattern>(KEPT);

/**
 * Compiles a pattern, or takes it as it was compiled some minutes ago; it matches when it is found anywhere in the text,
 * as `^` and `$` can say otherwise.
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

/**
 * Patterns that users write into validation_rules. They never reach RegExp, whose time can grow exponentially with the
 * text: RE2 reads each character once, and does without look-around and back-references for it.
 */
import { RE2JS } from "re2js";

/** A longer one is a program, not a rule. */
const LONGEST = 500;

export type Pattern =
  | { readonly ok: true; readonly matches: (text: string) => boolean }
  | { readonly ok: false; readonly message: string };

/** Compiles a pattern; it matches when it is found anywhere in the text, as `^` and `$` can say otherwise. */
export function compilePattern(source: string): Pattern {
  if (source.length > LONGEST) return { ok: false, message: `must be at most ${LONGEST} characters` };
  try {
    const pattern = RE2JS.compile(source);
    return { ok: true, matches: (text) => pattern.matcher(text).find() };
  } catch (fault) {
    const why = fault instanceof Error ? fault.message : String(fault);
    return { ok: false, message: `is not a pattern of RE2: ${why}` };
  }
}

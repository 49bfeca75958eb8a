/**
 * Patterns that users write into validation_rules. They never reach RegExp, whose time can grow exponentially with the
 * text: they are for an engine that reads each character once.
 */

export type Pattern =
  | { readonly ok: true; readonly matches: (text: string) => boolean }
  | { readonly ok: false; readonly message: string };

/** Compiles a pattern; one that the engine does not know (look-around, back-references) is refused. */
export function compilePattern(_source: string): Pattern {
  return { ok: false, message: "patterns are not available in this version" };
}

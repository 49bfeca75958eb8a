/** Shows a template to people who are not its recipients. */
import { Tokenizer, TypeGuards } from "liquidjs";
import { readTemplate } from "./read-template.ts";
import type { Piece } from "./template-pieces.ts";

/** In place of a value that is different for each recipient. */
const UNKNOWN = "…";
/** Blocks that depend on values, and write something. */
const conditional = /^(?:case|for|if|unless)$/;

/**
 * The text of a template without the values of a recipient. An output shows the text of a filter `default` at its end, and
 * "…" without one; a block that depends on values shows "…". A template with faults is "…" as a whole. Nothing is rendered.
 */
export function textWithoutValues(source: string): string {
  const reading = readTemplate(source);
  if (!reading.ok) return UNKNOWN;
  let shown = "";
  for (const piece of reading.template.pieces) {
    const text = textOfPiece(source, piece);
    if (text !== UNKNOWN || !shown.endsWith(UNKNOWN)) shown += text;
  }
  return shown;
}

function textOfPiece(source: string, { kind, name, role, depth, start, end, content }: Piece): string {
  const isWritten = depth === 0 || (depth === 1 && role === "verbatim");
  if (!isWritten) return "";
  if (kind === "text" || role === "verbatim") return source.slice(start, end);
  if (kind === "tag") return conditional.test(name) ? UNKNOWN : "";
  return fallbackOf(source, content) ?? UNKNOWN;
}

/** The literal text of a filter `default` that is the last filter of an output. */
function fallbackOf(source: string, content: Piece["content"]): string | undefined {
  const last = new Tokenizer(source, undefined, undefined, [...content]).readFilteredValue().filters.at(-1);
  const [fallback] = last?.name === "default" ? last.args : [];
  return fallback !== undefined && !Array.isArray(fallback) && TypeGuards.isQuotedToken(fallback)
    ? fallback.content
    : undefined;
}

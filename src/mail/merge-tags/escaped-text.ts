/** Plain text with merge tags, as HTML with merge tags. */
import { escapeHtml } from "./escape.ts";
import { cutTemplate } from "./template-pieces.ts";

/** Escapes the text between the merge tags of a template that can be read. The engine escapes their values. */
export function escapedText(source: string): string {
  return cutTemplate(source)
    .map(({ kind, role, start, end }) => {
      const piece = source.slice(start, end);
      return kind === "text" && role !== "ignored" ? escapeHtml(piece) : piece;
    })
    .join("");
}

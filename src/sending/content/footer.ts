/** What is put under a campaign's body: a way out, where its author left none. */

import { spanAt } from "#mail/html/map.ts";
import { type Render, renderOf } from "#mail/merge-tags/compile.ts";
import type { MergeValues } from "#mail/merge-tags/engine.ts";
import { bodyEnd, type HtmlTemplate } from "#mail/merge-tags/html.ts";
import { markedHtml } from "#mail/merge-tags/marks.ts";
import type { Template } from "#mail/merge-tags/merge-tags.ts";
import { type Piece, withInsertions } from "#mail/merge-tags/pieces.ts";
import { seenText } from "#mail/merge-tags/seen.ts";
import type { MailText } from "#mail/message/template-text.ts";
import type { VariableName } from "./variables.ts";

const unsubscribeUrl = "unsubscribe_url" satisfies VariableName;
const words = "Unsubscribe from these emails";
const htmlFooter =
  '<p style="margin:24px 0;font:12px/18px Arial,sans-serif;color:#666666;text-align:center">' +
  `<a href="{{ ${unsubscribeUrl} }}" style="color:#666666">${words}</a></p>\n`;
const textFooter = `-- \n${words}: {{ ${unsubscribeUrl} }}\n`;

/** Whether readers find a way out: all, none, or those for whom a block or a name that is assigned shows it. */
export type WayOut = "shown" | "missing" | "uncertain";

/** A way out that no reader sees is none. */
export function htmlWayOut(template: HtmlTemplate): WayOut {
  const seen = new Set(seenPieces(template));
  return wayOut(template, (piece) => seen.has(piece));
}

export function textWayOut(template: Template): WayOut {
  return wayOut(template, () => true);
}

function wayOut({ variables, pieces }: Template, isSeen: (output: Piece) => boolean): WayOut {
  const uses = variables
    .filter(({ path }) => path[0] === unsubscribeUrl)
    .flatMap(({ at }) => spanAt(pieces, at) ?? [])
    .filter((piece) => !isWritten(piece) || isSeen(piece));
  if (uses.length === 0) return "missing";
  return uses.some((piece) => isWritten(piece) && piece.depth === 0) ? "shown" : "uncertain";
}

/** Whether a piece is an output that stands where its value is read, and not in a tag or a capture. */
function isWritten({ kind, role }: Piece): boolean {
  return kind === "output" && role === "shown";
}

/** The merge tags whose place in the HTML is seen. */
function seenPieces(template: HtmlTemplate): Piece[] {
  const marked = markedHtml(template);
  if (marked === null) return [];
  const found = seenText(marked.html).matchAll(marked.words);
  return [...found].flatMap(([, index]) => template.pieces[Number(index)] ?? []);
}

/** The source of an HTML template with the footer. */
export function withHtmlFooter(template: HtmlTemplate): string {
  return withInsertions(template.source, [{ at: bodyEnd(template), text: htmlFooter }]);
}

/** The source of a text template with the footer. */
export function withTextFooter(template: Template): string {
  const body = template.source.trimEnd();
  return body === "" ? textFooter : `${body}\n\n${textFooter}`;
}

/**
 * Renders with the footer whoever finds no way out without it.
 * @param seen what a reader sees of what was rendered
 */
export function whereMissing(plain: Render, footed: Render, seen: (rendered: string) => string): Render {
  const shows = ({ variables }: MergeValues, text: MailText) =>
    seen(String(text)).includes(String(variables[unsubscribeUrl]));
  const woven = (values: MergeValues) => {
    const rendered = plain.woven(values);
    return !rendered.ok || shows(values, rendered.text) ? rendered : footed.woven(values);
  };
  return renderOf(woven);
}

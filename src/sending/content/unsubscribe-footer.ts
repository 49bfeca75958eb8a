/** The footer with an unsubscribe link, which is added to bodies that have no visible one. */

import { spanAt } from "#mail/html/tag-positions.ts";
import { type Render, renderOf } from "#mail/merge-tags/compile.ts";
import { bodyEnd, type HtmlTemplate } from "#mail/merge-tags/html-template.ts";
import type { MergeValues } from "#mail/merge-tags/liquid-engine.ts";
import type { Template } from "#mail/merge-tags/read-template.ts";
import { htmlWithPlaceholders } from "#mail/merge-tags/tag-placeholders.ts";
import { type Piece, withInsertions } from "#mail/merge-tags/template-pieces.ts";
import { visibleText } from "#mail/merge-tags/visible-text.ts";
import type { MailText } from "#mail/message/shared-text-pieces.ts";
import type { VariableName } from "./merge-tag-names.ts";

const unsubscribeUrl = "unsubscribe_url" satisfies VariableName;
const words = "Unsubscribe from these emails";
const htmlFooter =
  '<p style="margin:24px 0;font:12px/18px Arial,sans-serif;color:#666666;text-align:center">' +
  `<a href="{{ ${unsubscribeUrl} }}" style="color:#666666">${words}</a></p>\n`;
const textFooter = `-- \n${words}: {{ ${unsubscribeUrl} }}\n`;

/**
 * Whether the body shows an unsubscribe link: to all recipients, to none, or depending on the values, because it is in a
 * block or assigned to a variable.
 */
export type UnsubscribeLink = "shown" | "missing" | "uncertain";

/** A link that is not visible counts as missing. */
export function htmlUnsubscribeLink(template: HtmlTemplate): UnsubscribeLink {
  const seen = new Set(seenPieces(template));
  return unsubscribeLink(template, (piece) => seen.has(piece));
}

export function textUnsubscribeLink(template: Template): UnsubscribeLink {
  return unsubscribeLink(template, () => true);
}

function unsubscribeLink(
  { variables, pieces }: Template,
  isSeen: (output: Piece) => boolean,
): UnsubscribeLink {
  const uses = variables
    .filter(({ path }) => path[0] === unsubscribeUrl)
    .flatMap(({ at }) => spanAt(pieces, at) ?? [])
    .filter((piece) => !isWritten(piece) || isSeen(piece));
  if (uses.length === 0) return "missing";
  return uses.some((piece) => isWritten(piece) && piece.depth === 0) ? "shown" : "uncertain";
}

/** Whether a piece is an output whose value is shown where it is written, not inside a tag or a capture. */
function isWritten({ kind, role }: Piece): boolean {
  return kind === "output" && role === "shown";
}

/** The merge tags at visible places of the HTML. */
function seenPieces(template: HtmlTemplate): Piece[] {
  const marked = htmlWithPlaceholders(template);
  if (marked === null) return [];
  const found = visibleText(marked.html).matchAll(marked.words);
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
 * Renders without the footer, and again with it if the result shows no unsubscribe link.
 * @param seen returns the visible text of a rendered body
 */
export function footerIfMissing(plain: Render, footed: Render, seen: (rendered: string) => string): Render {
  const shows = ({ variables }: MergeValues, text: MailText) =>
    seen(String(text)).includes(String(variables[unsubscribeUrl]));
  const mailText = (values: MergeValues) => {
    const rendered = plain.mailText(values);
    return !rendered.ok || shows(values, rendered.text) ? rendered : footed.mailText(values);
  };
  return renderOf(mailText);
}

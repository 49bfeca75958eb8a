/** What is put under a campaign's body: a way out, where its author left none. */

import { spanAt } from "../../../mail/html-links.ts";
import type { Template } from "../../../mail/merge-tags.ts";
import { type Render, renderOf } from "../../../mail/merge-tags-compile.ts";
import type { MergeValues } from "../../../mail/merge-tags-engine.ts";
import { bodyEnd, type HtmlTemplate, isInComment } from "../../../mail/merge-tags-html.ts";
import { type Piece, withInsertions } from "../../../mail/merge-tags-pieces.ts";
import type { MailText } from "../../../mail/woven-text.ts";
import type { VariableName } from "./variables.ts";

const unsubscribeUrl = "unsubscribe_url" satisfies VariableName;
const words = "Unsubscribe from these emails";
const htmlFooter =
  '<p style="margin:24px 0;font:12px/18px Arial,sans-serif;color:#666666;text-align:center">' +
  `<a href="{{ ${unsubscribeUrl} }}" style="color:#666666">${words}</a></p>\n`;
const textFooter = `-- \n${words}: {{ ${unsubscribeUrl} }}\n`;

/** Whether readers find a way out: all, none, or those for whom a block or a name that is assigned shows it. */
export type WayOut = "shown" | "missing" | "uncertain";

export function htmlWayOut(template: HtmlTemplate): WayOut {
  return wayOut(template, (at) => isInComment(template, at));
}

export function textWayOut(template: Template): WayOut {
  return wayOut(template, () => false);
}

function wayOut({ variables, pieces }: Template, isHidden: (at: number) => boolean): WayOut {
  const uses = variables.filter(({ path, at }) => path[0] === unsubscribeUrl && !isHidden(at));
  if (uses.length === 0) return "missing";
  return uses.some(({ at }) => isForAll(spanAt(pieces, at))) ? "shown" : "uncertain";
}

function isForAll(piece: Piece | undefined): boolean {
  return piece?.kind === "output" && piece.role === "shown" && piece.depth === 0;
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

/** Renders with the footer whoever finds no way out without it. */
export function whereMissing(plain: Render, footed: Render): Render {
  const shows = ({ variables }: MergeValues, text: MailText) =>
    String(text).includes(String(variables[unsubscribeUrl]));
  const woven = (values: MergeValues) => {
    const rendered = plain.woven(values);
    return !rendered.ok || shows(values, rendered.text) ? rendered : footed.woven(values);
  };
  return renderOf(woven);
}

/** What is put under a campaign's body: a way out, where its author left none. */

import type { Template } from "../../../mail/merge-tags.ts";
import { bodyEnd, type HtmlTemplate, isInComment } from "../../../mail/merge-tags-html.ts";
import { withInsertions } from "../../../mail/merge-tags-pieces.ts";
import type { VariableName } from "./variables.ts";

const unsubscribeUrl = "unsubscribe_url" satisfies VariableName;
const words = "Unsubscribe from these emails";
const htmlFooter =
  '<p style="margin:24px 0;font:12px/18px Arial,sans-serif;color:#666666;text-align:center">' +
  `<a href="{{ ${unsubscribeUrl} }}" style="color:#666666">${words}</a></p>\n`;
const textFooter = `\n\n-- \n${words}: {{ ${unsubscribeUrl} }}\n`;

/** The source of an HTML template with the footer, null when a reader of it finds a way out. */
export function withHtmlFooter(template: HtmlTemplate): string | null {
  const isSeen = uses(template).some(({ at }) => !isInComment(template, at));
  return isSeen ? null : withInsertions(template.source, [{ at: bodyEnd(template), text: htmlFooter }]);
}

/** The source of a text template with the footer, null when it has a way out. */
export function withTextFooter(template: Template): string | null {
  return uses(template).length > 0 ? null : template.source.trimEnd() + textFooter;
}

function uses({ variables }: Template) {
  return variables.filter(({ path }) => path[0] === unsubscribeUrl);
}

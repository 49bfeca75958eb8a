/** The text and the URLs that a reader of an HTML mail sees or can open. */

import { type HiddenPart, hiddenParts } from "#mail/html/hidden-parts.ts";
import { plainText } from "#mail/html/html-to-text.ts";
import { type HtmlTag, mapHtml } from "#mail/html/tag-positions.ts";
import { type Insertion, withInsertions } from "./template-pieces.ts";

/** Elements that have a URL without being a link. */
const behindTags = /<(?:area|button|input)/i;

/**
 * The visible words, with the URLs of links, image maps and forms with a submit button. Left out are hidden elements,
 * also those that are left open, links without visible content, and alternative texts of pictures; also image maps and
 * forms if the HTML has too much markup.
 * @param hidden the hidden parts to leave out, if not all
 */
export function visibleText(whole: string, hidden: readonly HiddenPart[] = hiddenParts(whole).parts): string {
  const html = withoutParts(whole, hidden);
  const addresses = behindTags.test(html) ? addressesBehindTags(html, mapHtml(html)?.tags ?? []) : [];
  return plainText(withInsertions(html, addresses), () => "", { maxLength: Number.POSITIVE_INFINITY });
}

function withoutParts(html: string, parts: readonly HiddenPart[]): string {
  let kept = "";
  let done = 0;
  for (const { start, end } of parts) {
    kept += html.slice(done, start);
    done = end;
  }
  return kept + html.slice(done);
}

/** Inserts the URLs of image maps and forms as words, which are hidden if their elements are. */
function addressesBehindTags(html: string, tags: readonly HtmlTag[]): Insertion[] {
  let action: string | null = null;
  return tags.flatMap((tag) => {
    const attributeValue = (wanted: string) => {
      const attribute = tag.attributes.find(({ name }) => name === wanted);
      return attribute === undefined ? null : html.slice(attribute.start, attribute.end);
    };
    if (tag.isInComment) return [];
    if (tag.element === "form") action = attributeValue("action");
    let address: string | null = null;
    if (tag.element === "area") address = attributeValue("href");
    else if (sendsForm(tag.element, attributeValue("type"))) address = attributeValue("formaction") ?? action;
    return address === null ? [] : [{ at: tag.end, text: ` ${address.replaceAll("<", "&lt;")} ` }];
  });
}

function sendsForm(element: string, type: string | null): boolean {
  if (element === "button") return type === null || !/^(?:button|reset)$/i.test(type);
  return element === "input" && type !== null && /^(?:image|submit)$/i.test(type);
}

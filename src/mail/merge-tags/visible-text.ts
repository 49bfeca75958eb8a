/** What somebody sees who reads the HTML of a mail, and where it leads them. */

import { plainText } from "#mail/html/html-to-text.ts";
import { type HtmlTag, mapHtml } from "#mail/html/tag-positions.ts";
import { type Insertion, withInsertions } from "./template-pieces.ts";

/** What may lead somewhere without being a link. */
const behindTags = /<(?:area|button|input)/i;

/**
 * The words that are shown, with the addresses of links, of maps and of the forms that a button sends. What is hidden,
 * a link without anything to click on and the words for a picture are left out; and maps and forms are, in HTML that
 * has too much markup for a map of its own.
 */
export function visibleText(html: string): string {
  const addresses = behindTags.test(html) ? addressesBehindTags(html, mapHtml(html)?.tags ?? []) : [];
  return plainText(withInsertions(html, addresses), () => "", { maxLength: Number.POSITIVE_INFINITY });
}

/** The addresses that a text has no place for, as words that are hidden where their elements are. */
function addressesBehindTags(html: string, tags: readonly HtmlTag[]): Insertion[] {
  let action: string | null = null;
  return tags.flatMap((tag) => {
    const writtenIn = (wanted: string) => {
      const attribute = tag.attributes.find(({ name }) => name === wanted);
      return attribute === undefined ? null : html.slice(attribute.start, attribute.end);
    };
    if (tag.isInComment) return [];
    if (tag.element === "form") action = writtenIn("action");
    let address: string | null = null;
    if (tag.element === "area") address = writtenIn("href");
    else if (sendsForm(tag.element, writtenIn("type"))) address = writtenIn("formaction") ?? action;
    return address === null ? [] : [{ at: tag.end, text: ` ${address.replaceAll("<", "&lt;")} ` }];
  });
}

function sendsForm(element: string, type: string | null): boolean {
  if (element === "button") return type === null || !/^(?:button|reset)$/i.test(type);
  return element === "input" && type !== null && /^(?:image|submit)$/i.test(type);
}

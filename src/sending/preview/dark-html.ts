/**
 * HTML as mail programs with a dark theme show it. Mail with rules of its own for `prefers-color-scheme: dark` is shown with
 * them, as Apple Mail, Outlook for Mac and Thunderbird do. Mail without any is recoloured as a whole, pictures excepted, as
 * the Gmail app and Outlook for Windows do.
 */
import { type HtmlMap, mapHtml } from "#mail/html/tag-positions.ts";
import { type Insertion, withInsertions } from "#mail/merge-tags/template-pieces.ts";

const darkQuery = /\(\s*prefers-color-scheme\s*:\s*dark\s*\)/gi;
const lightQuery = /\(\s*prefers-color-scheme\s*:\s*(?:light|no-preference)\s*\)/gi;
/** Media queries that always and never hold. */
const always = "(min-width:0)";
const never = "(max-width:0)";

const ownTheme = "<style>:root{color-scheme:dark}</style>";
const inverted =
  "<style>:root{background:#fff;filter:invert(1) hue-rotate(180deg)}" +
  'img,video,picture,[style*="url("],[background]{filter:invert(1) hue-rotate(180deg)}</style>';

export function darkHtml(html: string): string {
  const map = mapHtml(html);
  if (map === null) return html;
  let hasOwn = false;
  const themed = (text: string) =>
    text
      .replace(darkQuery, () => {
        hasOwn = true;
        return always;
      })
      .replace(lightQuery, never);
  let dark = "";
  let end = 0;
  for (const span of mediaSpans(html, map)) {
    dark += html.slice(end, span.start) + themed(html.slice(span.start, span.end));
    end = span.end;
  }
  dark += html.slice(end);
  const head: Insertion = { at: headStart(map), text: hasOwn ? ownTheme : inverted };
  // The head is before the first style, so its offset is the same in the result.
  return withInsertions(dark, [head]);
}

/** Contents of style elements, and media attributes, in order and without overlaps. */
function mediaSpans(html: string, { tags }: HtmlMap): { readonly start: number; readonly end: number }[] {
  return tags.flatMap(({ element, attributes, end }) => {
    const media = attributes.filter(({ name }) => name === "media").slice(0, 1);
    if (element !== "style") return media;
    const closing = /<\/style/gi;
    closing.lastIndex = end;
    return [...media, { start: end, end: closing.exec(html)?.index ?? html.length }];
  });
}

/** After the tag of the head, else after that of the document, else at the start. */
function headStart({ tags }: HtmlMap): number {
  const opening = (name: string) => tags.find(({ element, isInComment }) => element === name && !isInComment);
  return (opening("head") ?? opening("html"))?.end ?? 0;
}

/**
 * Tracked links: which links of an HTML template can be tracked, and the tags around their URLs; and tracking in
 * finished HTML without merge tags.
 */

import { type HtmlAttribute, linkAttributes, mapHtml } from "#mail/html/tag-positions.ts";
import { escapeHtml } from "./escape.ts";
import type { HtmlTemplate } from "./html-template.ts";
import { hrefTarget, type LinkAddresses, pixelImage } from "./liquid-engine.ts";
import { depthChange, type Insertion, type Piece, tagsIn } from "./template-pieces.ts";

/** A tracked link; its index is its position in the array. */
export interface TemplateLink {
  /** The destination without HTML escapes, with its merge tags. */
  readonly url: string;
  /** Whether the destination has merge tags and so depends on the recipient. */
  readonly personal: boolean;
}

/** An http URL with a literal host, so that no value decides to which host readers are redirected. */
const ownHost = /^\s*https?:\/\/[^\s/?#<>"'{}\\]+(?:[/?#]|\s*$)/i;

/**
 * The links that can be tracked, in the order that gives them their index, and the tags around their URLs, which
 * liquid-engine.ts renders. Not tracked are: other schemes, URLs whose host is a value, links with `data-no-track`, and
 * URLs that share a block of the template with text outside of them.
 */
export function trackLinks(template: HtmlTemplate): { links: TemplateLink[]; insertions: Insertion[] } {
  const attributes = linkAttributes(template.map).filter((attribute) => isTrackable(template, attribute));
  return {
    links: attributes.map((attribute) => ({
      url: hrefTarget(template.source.slice(attribute.start, attribute.end)),
      personal: tagsIn(template.pieces, attribute).length > 0,
    })),
    insertions: attributes.flatMap(({ start, end }, index) => [
      { at: start, text: `{% tracked_link ${index} %}` },
      { at: end, text: "{% endtracked_link %}" },
    ]),
  };
}

/** Whether the value of a `href` is an http URL with a literal host. */
function isHttpAddress(written: string): boolean {
  return ownHost.test(written) && URL.canParse(hrefTarget(written));
}

function isTrackable({ source, pieces }: HtmlTemplate, attribute: HtmlAttribute): boolean {
  const written = source.slice(attribute.start, attribute.end);
  if (!ownHost.test(written)) return false;
  const inside = tagsIn(pieces, attribute);
  if (!isBalanced(inside)) return false;
  // An unquoted URL may continue inside the branches of a tag.
  const branches = inside.some(({ kind }) => kind === "tag") || source.startsWith("{%", attribute.end);
  if (!attribute.isQuoted && branches) return false;
  return URL.canParse(hrefTarget(written.replaceAll(/{[{%].*?[%}]}/gs, "x")));
}

/** Whether every block that begins in these pieces ends in them, and the reverse. */
function isBalanced(pieces: readonly Piece[]): boolean {
  let depth = 0;
  for (const piece of pieces) {
    if (depth === 0 && /^(?:else|elsif|when)$/.test(piece.name)) return false;
    depth += depthChange(piece);
    if (depth < 0) return false;
  }
  return depth === 0;
}

/**
 * Replaces each link by the URL that `links` returns for it, and adds the pixel at the end of the body; every other
 * byte stays the same. The same links are excluded as in templates, and links for which `links` returns the
 * destination. HTML with too much markup (tag-positions.ts) is returned unchanged.
 */
export function trackHtml(html: string, links: LinkAddresses): string {
  const map = mapHtml(html);
  if (map === null) return html;
  const addresses = linkAttributes(map)
    .filter(({ start, end }) => isHttpAddress(html.slice(start, end)))
    .flatMap(({ start, end }, index) => {
      const target = hrefTarget(html.slice(start, end));
      const address = links.tracked(index, target, true);
      return address === target ? [] : [{ start, end, text: escapeHtml(address) }];
    });
  const pixel = { start: map.bodyEnd, end: map.bodyEnd, text: pixelImage(links) };
  const pieces: string[] = [];
  let copied = 0;
  for (const { start, end, text } of [...addresses, pixel].sort((a, b) => a.start - b.start)) {
    pieces.push(html.slice(copied, start), text);
    copied = end;
  }
  return pieces.join("") + html.slice(copied);
}

/** Links in an HTML template that lead back to us: which of them can, and the marks around their addresses. */

import { type HtmlAttribute, linkAttributes, mapHtml } from "#mail/html/tag-positions.ts";
import { escapeHtml } from "./escape.ts";
import type { HtmlTemplate } from "./html-template.ts";
import { hrefTarget, type LinkAddresses, pixelImage } from "./liquid-engine.ts";
import { depthChange, type Insertion, type Piece, tagsIn } from "./template-pieces.ts";

/** A link that is tracked, at its index. */
export interface TemplateLink {
  /** Where it leads, without HTML's escapes, with its merge tags. */
  readonly url: string;
  /** Whether it has merge tags: then where it leads is a matter of the recipient. */
  readonly personal: boolean;
}

/** An http address whose host is written out, so that no value decides where we send people. */
const ownHost = /^\s*https?:\/\/[^\s/?#<>"'{}\\]+(?:[/?#]|\s*$)/i;

/**
 * The links that can be tracked, in order, which gives them their index; and the marks around their addresses, which
 * liquid-engine.ts reads. Everything else is left alone: what is no http address, what a value makes one, what
 * `data-no-track` marks, and an address that shares a block of the template with what is outside of it.
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

/** Whether what stands in a `href` is an http address with a host of its own. */
export function isHttpAddress(written: string): boolean {
  return ownHost.test(written) && URL.canParse(hrefTarget(written));
}

function isTrackable({ source, pieces }: HtmlTemplate, attribute: HtmlAttribute): boolean {
  const written = source.slice(attribute.start, attribute.end);
  if (!ownHost.test(written)) return false;
  const inside = tagsIn(pieces, attribute);
  if (!isBalanced(inside)) return false;
  // Without quotes an address may go on in the branches of a tag.
  const branches = inside.some(({ kind }) => kind === "tag") || source.startsWith("{%", attribute.end);
  if (!attribute.isQuoted && branches) return false;
  return URL.canParse(hrefTarget(written.replaceAll(/{[{%].*?[%}]}/gs, "x")));
}

/** Whether every block that begins in them ends in them, and no other does. */
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
 * Puts the address that `links` has for each link in its place, and the pixel at the end of the body; every other byte
 * stays as it is. Links are left alone as in templates (tracked-links.ts), and so is one that `links` leaves as it is.
 * HTML with more markup than anybody maps (tag-positions.ts) comes back as it was.
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

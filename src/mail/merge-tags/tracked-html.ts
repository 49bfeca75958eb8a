/** Finished HTML, not a template, with links that lead back to us. */

import { linkAttributes, mapHtml } from "#mail/html/tag-positions.ts";
import { escapeHtml } from "./escape.ts";
import { hrefTarget, type LinkAddresses, pixelImage } from "./liquid-engine.ts";
import { isHttpAddress } from "./tracked-links.ts";

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

/** Puts a mark behind each tracked link of a mail, in its source, so that the mail is rendered as it was sent except for the marks. */

interface MarkedLink {
  readonly url: string;
}

const commentOrAnchor = /<!--[\s\S]*?-->|<a\b[^>]*?\bhref\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s>"']+))[^>]*>/gi;

/**
 * @param links in the order of the mail, as the service lists them; those that are not found have no mark
 * @param mark the HTML behind a link
 */
export function markLinks<Link extends MarkedLink>(
  html: string,
  links: readonly Link[],
  mark: (link: Link) => string,
): string {
  const pieces: string[] = [];
  let next = 0;
  let copied = 0;
  for (const found of html.matchAll(commentOrAnchor)) {
    const address = found[1] ?? found[2] ?? found[3];
    const link = links[next];
    if (address === undefined || link === undefined || unescaped(address) !== link.url) continue;
    next += 1;
    const end = html.indexOf("</a", found.index + found[0].length);
    if (end < 0) continue;
    pieces.push(html.slice(copied, end), mark(link));
    copied = end;
  }
  return pieces.join("") + html.slice(copied);
}

const escaped = /&(?:#(\d{1,7})|#x([\da-f]{1,6})|(amp|lt|gt|quot|apos));/gi;
const named: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'" };
const LAST_CODE = 0x10ffff;

/** The address without the HTML escapes that addresses have; the policy of the page lets no browser read markup. */
function unescaped(text: string): string {
  return text
    .replaceAll(escaped, (whole, decimal?: string, hex?: string, name?: string) => {
      if (name !== undefined) return named[name.toLowerCase()] ?? whole;
      const code = decimal === undefined ? Number.parseInt(hex ?? "", 16) : Number(decimal);
      return code <= LAST_CODE ? String.fromCodePoint(code) : whole;
    })
    .trim();
}

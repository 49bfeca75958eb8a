/** Puts a mark behind each tracked link of a mail, in its source, so that the mail is rendered as it was sent but for the marks. */

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

/** The address without HTML escapes, as a browser reads it. */
function unescaped(text: string): string {
  const field = document.createElement("textarea");
  field.innerHTML = text;
  return field.value.trim();
}

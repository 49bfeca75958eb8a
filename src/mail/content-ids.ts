/** References from a mail's HTML to its other parts: `cid:<content id>` (RFC 2392). */

/**
 * Where an address can begin, in an attribute (srcset holds several) or in a style's url(); rarely so in what people
 * read. (Looked back at from behind the scheme, so that blanks are gone through only where there is one.)
 */
const reference = /cid:(?<=["'=(,]\s*cid:)([^\s"'()<>]+)/gi;

/** @param addressOf what stands there instead, without quotes and brackets; undefined leaves the reference as it is */
export function replaceContentIds(
  html: string,
  addressOf: (contentId: string) => string | undefined,
): string {
  return html.replace(reference, (whole, id: string) => addressOf(decoded(id)) ?? whole);
}

/** Section 2: a Content-ID is percent-encoded where a URL needs it. */
function decoded(id: string): string {
  try {
    return decodeURIComponent(id);
  } catch {
    return id;
  }
}

const imageType = /^image\/[\w.+-]+$/i;

/** Whether a part may be shown as a picture; a scalable one cannot run scripts inside <img>. */
export function isImage(mediaType: string): boolean {
  return imageType.test(mediaType);
}

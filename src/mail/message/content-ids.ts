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

/** What `make` makes of the parts that may be shown as pictures, by their content ids. */
export function imagesById<
  Part extends { readonly content_id: string | null; readonly content_type: string },
  Image,
>(parts: readonly Part[], make: (part: Part) => Image): Map<string, Image> {
  return new Map(
    parts.flatMap((part) =>
      part.content_id !== null && imageType.test(part.content_type) ? [[part.content_id, make(part)]] : [],
    ),
  );
}

/** A scalable one cannot run scripts inside <img>. */
const imageType = /^image\/[\w.+-]+$/i;

/** References from the HTML to other parts of a message: `cid:<content id>` (RFC 2392). */

/**
 * `cid:` where a URL can begin: in an attribute (srcset has several) or in a style's url(). The look-behind comes after
 * the scheme, so that blanks are scanned only where a `cid:` is.
 */
const reference = /cid:(?<=["'=(,]\s*cid:)([^\s"'()<>]+)/gi;

/**
 * Replaces the references.
 * @param addressOf returns the new URL, without quotes and brackets; undefined keeps the reference
 */
export function replaceContentIds(
  html: string,
  addressOf: (contentId: string) => string | undefined,
): string {
  return html.replace(reference, (whole, id: string) => addressOf(decoded(id)) ?? whole);
}

/** RFC 2392 section 2: a Content-ID is percent-encoded if needed in a URL. */
function decoded(id: string): string {
  try {
    return decodeURIComponent(id);
  } catch {
    return id;
  }
}

/** Calls `make` for the parts that may be shown as pictures; the results by content id. */
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

/** SVG is included: it cannot run scripts inside <img>. */
const imageType = /^image\/[\w.+-]+$/i;

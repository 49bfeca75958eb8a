/** The path to which a browser goes after a single sign-on. It is never on another site. */
import { invalid } from "#platform/errors.ts";

/** It is kept in a cookie, of which browsers take 4096 octets. */
export const LONGEST_RETURN_PATH = 1_000;
/** No host has this name (RFC 6761 section 6.4). */
const BASE = "http://posthaste.invalid";

/** @throws ApiError VALIDATION_ERROR unless the text is a path of this site, with a query and fragment if need be */
export function readReturnPath(text: string): string {
  // Browsers treat "\" like "/", and skip tabs and line breaks: "/\other.example" and "/<tab>/other.example" are other sites.
  const isPath = /^\/(?![/\\])/.test(text) && !/[\\\p{Cc}]/u.test(text);
  const url = isPath && URL.canParse(text, BASE) ? new URL(text, BASE) : null;
  const path = url === null ? "" : `${url.pathname}${url.search}${url.hash}`;
  // "/.//other.example" is a path, whose normal form is "//other.example".
  if (url?.origin !== BASE || path.startsWith("//") || path.length > LONGEST_RETURN_PATH) {
    throw invalid({
      field: "return_to",
      message: `return_to must be a path of this site such as /console, with at most ${LONGEST_RETURN_PATH} characters`,
    });
  }
  return path;
}

import { isIP } from "node:net";
import { invalid } from "#platform/errors.ts";
import { isPublicAddress } from "#platform/network/public-address.ts";

export const LONGEST_URL = 2_000;

/**
 * Checks the URL of a receiver and returns its normal form. The addresses of its host are checked at each connection
 * (post-to-receiver.ts).
 * @param allowPrivate whether receivers may be on private networks, and without TLS
 * @throws ApiError VALIDATION_ERROR
 */
export function readReceiverUrl(text: string, allowPrivate: boolean): string {
  const refuse = (message: string) => invalid({ field: "url", message: `url ${message}` });
  // URL.parse silently repairs blanks, line breaks and a wrong number of slashes; such a text is refused.
  const url = /^[a-z]+:\/\/[^\s/\\][^\s\\]*$/i.test(text.trim()) ? URL.parse(text.trim()) : null;
  if (url === null || url.port === "0") {
    throw refuse("must be a complete URL, for example https://example.com/hooks");
  }
  if (url.protocol !== "https:" && !(allowPrivate && url.protocol === "http:")) {
    throw refuse("must begin with https://");
  }
  if (url.username !== "" || url.password !== "") {
    throw refuse("must not contain a user name or password: verify the signature of each delivery instead");
  }
  if (!allowPrivate && isKnownPrivate(hostOf(url))) throw refuse("must have a public address");
  url.hash = "";
  if (url.href.length > LONGEST_URL) throw refuse(`must be at most ${LONGEST_URL} characters`);
  return url.href;
}

/** The host without the brackets of IPv6. */
export function hostOf(url: URL): string {
  return url.hostname.replace(/^\[|\]$/g, "");
}

/** RFC 6761 section 6.3: localhost and names below it are this machine's. */
export function isLocalName(host: string): boolean {
  return /(^|\.)localhost\.?$/.test(host);
}

function isKnownPrivate(host: string): boolean {
  return isLocalName(host) || (isIP(host) !== 0 && !isPublicAddress(host));
}

/** Where a link may lead. */

/** What stands in a Location header as it is (RFC 9110 section 10.2.2): visible ASCII. */
const PLAIN = /^[!-~]+$/;

/** The address as a header can carry it, octet for octet where it can; null for what is no http or https address. */
export function linkTarget(address: string): string | null {
  const trimmed = address.trim();
  if (!URL.canParse(trimmed)) return null;
  const url = new URL(trimmed);
  if (url.protocol !== "http:" && url.protocol !== "https:") return null;
  return PLAIN.test(trimmed) && /^https?:\/\//i.test(trimmed) && !trimmed.includes("\\") ? trimmed : url.href;
}

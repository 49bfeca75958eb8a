/** Which names can be tracking domains: public names below a domain, other than those of the service. */
import { parse } from "tldts";
import { parseDomain } from "#mail/address.ts";
import { type ApiError, invalid } from "#platform/errors.ts";

/** Names that exist on private networks only (RFC 6761, RFC 6762 appendix G, RFC 8375, RFC 9476). */
export const LOCAL_ENDINGS =
  /(?:^|\.)(?:localhost|localdomain|local|internal|intranet|private|corp|home|lan|home\.arpa|onion|alt|invalid)$/;

/**
 * Normalises a domain to lower-case A-labels.
 * @param ownHosts host names of the service itself, which are refused
 * @throws ApiError VALIDATION_ERROR
 */
export function readTrackingDomain(text: string, ownHosts: readonly string[]): string {
  const parsed = parseDomain(text);
  if (!parsed.ok) throw refusal(parsed.message);
  const { domain } = parsed;
  if (LOCAL_ENDINGS.test(domain)) throw refusal(`${domain} is a name of a private network`);
  const { domain: registered } = parse(domain, { allowPrivateDomains: true, extractHostname: false });
  if (registered === null || registered === domain) {
    throw refusal(`${domain} cannot be an alias: take a name below it, such as links.${domain}`);
  }
  if (ownHosts.includes(domain)) throw refusal(`${domain} is the service's own name`);
  return domain;
}

function refusal(message: string): ApiError {
  return invalid({ field: "domain", message: `domain: ${message}` });
}

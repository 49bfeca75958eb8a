/** Which domains can be sending domains: registrable ones, not those of a mailbox provider. */
import { getDomain, parse } from "tldts";
import { parseDomain } from "#mail/address.ts";
import { invalid } from "#platform/errors.ts";
import freeMailDomains from "./free-mail-domains.json" with { type: "json" };

const freeMail: ReadonlySet<string> = new Set(freeMailDomains);

/** Whether a domain (lower-case A-labels) is, or lies below, a free-mail domain: anyone can have an address there. */
export function isFreeMail(domain: string): boolean {
  return freeMail.has(getDomain(domain, { extractHostname: false }) ?? domain);
}

/**
 * Normalises a domain to lower-case A-labels.
 * @throws ApiError VALIDATION_ERROR for what is not a domain, a public suffix such as co.uk, or a free-mail domain
 */
export function readSendingDomain(text: string): string {
  const parsed = parseDomain(text);
  if (!parsed.ok) throw invalid({ field: "domain", message: `domain: ${parsed.message}` });
  const { domain } = parsed;
  if (parse(domain, { allowPrivateDomains: true, extractHostname: false }).domain === null) {
    const message = `domain: ${domain} is a public suffix, under which others register their domains`;
    throw invalid({ field: "domain", message });
  }
  if (isFreeMail(domain)) {
    const message = `domain: ${domain} belongs to a mailbox provider; to send as one address there, add a verified sender`;
    throw invalid({ field: "domain", message });
  }
  return domain;
}

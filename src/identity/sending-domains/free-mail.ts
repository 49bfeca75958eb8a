/** Domains that belong to a mailbox provider while anybody may have an address there. */
import { getDomain } from "tldts";
import freeMailDomains from "./free-mail-domains.json" with { type: "json" };

const domains: ReadonlySet<string> = new Set(freeMailDomains);

/** Whether a domain (lower-case A-labels) is, or lies below, one of the big free-mail domains. */
export function isFreeMail(domain: string): boolean {
  return domains.has(getDomain(domain, { extractHostname: false }) ?? domain);
}

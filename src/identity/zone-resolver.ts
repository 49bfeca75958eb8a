/** DNS for the checks of customers' domains: their own name servers first, so that a new record is seen at once. */
import type { Resolver } from "#mail/dns/resolver.ts";
import { createResolver } from "#platform/dns.ts";
import { askAuthoritative } from "#platform/dns-authoritative.ts";

const PATIENCE = { timeoutMs: 5_000, tries: 4, isFresh: true };
const AUTHORITATIVE_MS = 3_000;

/** `servers` are the operator's DNS_SERVERS: when there are any, they alone are asked. */
export function createZoneResolver(servers: readonly string[]): (domain: string) => Resolver {
  const local = createResolver({ servers, ...PATIENCE });
  return (domain) => askAuthoritative(local, domain, { servers, timeoutMs: AUTHORITATIVE_MS });
}

/** DNS for the checks of customers' domains: their own name servers first, so that a new record is seen at once. */

import { askAuthoritative } from "#dns/authoritative.ts";
import type { Resolver } from "#dns/resolver.ts";
import { createResolver } from "#dns/system.ts";

const PATIENCE = { timeoutMs: 5_000, tries: 4, isFresh: true };
const AUTHORITATIVE_MS = 3_000;

/** `servers` are the operator's DNS_SERVERS: when there are any, they alone are asked. */
export function createZoneResolver(servers: readonly string[]): (domain: string) => Resolver {
  const local = createResolver({ servers, ...PATIENCE });
  return (domain) => askAuthoritative(local, domain, { servers, timeoutMs: AUTHORITATIVE_MS });
}

/**
 * The resolver for checks of customers' domains: it asks their own name servers first, so that a new record is seen at
 * once.
 */

import { askAuthoritative } from "#dns/authoritative-resolver.ts";
import { createResolver } from "#dns/network-resolver.ts";
import type { Resolver } from "#dns/resolver-interface.ts";

const PATIENCE = { timeoutMs: 5_000, tries: 4, isFresh: true };
const AUTHORITATIVE_MS = 3_000;

/** @param servers the operator's DNS_SERVERS: when there are any, only they are asked */
export function createZoneResolver(servers: readonly string[]): (domain: string) => Resolver {
  const local = createResolver({ servers, ...PATIENCE });
  return (domain) => askAuthoritative(local, domain, { servers, timeoutMs: AUTHORITATIVE_MS });
}

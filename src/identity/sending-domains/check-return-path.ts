/** Does the domain's own return path lead to us? Both its MX and its SPF have to be the platform's, as an alias's are. */

import { checkAlias } from "#identity/check-alias.ts";
import type { DnsCheck } from "#identity/dns-check.ts";
import { customReturnPathHost } from "#identity/return-path.ts";
import type { Resolver } from "#mail/dns/resolver.ts";

export function checkReturnPath(resolver: Resolver, domain: string, bounceDomain: string): Promise<DnsCheck> {
  return checkAlias(resolver, customReturnPathHost(domain), bounceDomain.toLowerCase());
}

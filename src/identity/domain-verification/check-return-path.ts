/** Does the domain's own return path lead to us? Both its MX and its SPF have to be the platform's, as an alias's are. */

import type { Resolver } from "#dns/resolver.ts";
import { checkAlias } from "#identity/dns-checks/check-alias.ts";
import type { DnsCheck } from "#identity/dns-checks/dns-check.ts";
import { customReturnPathHost } from "#identity/return-path.ts";

export function checkReturnPath(resolver: Resolver, domain: string, bounceDomain: string): Promise<DnsCheck> {
  return checkAlias(resolver, customReturnPathHost(domain), bounceDomain.toLowerCase());
}

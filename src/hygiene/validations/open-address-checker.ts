import { createResolver } from "#dns/network-resolver.ts";
import type { Prober } from "#hygiene/probe/prober.ts";
import type { Clock } from "#platform/clock.ts";
import type { Config } from "#platform/config/config.ts";
import { type AddressChecker, createAddressChecker } from "./address-checker.ts";
import { createAddressLists } from "./disposable-and-role-lists.ts";
import { createDomainAges } from "./domain-age.ts";

const DNS = { timeoutMs: 4_000, tries: 4 };

/** The address checker of this process, as configured. Opens no connection before the first check. */
export function openAddressChecker(
  { config, clock }: { readonly config: Config; readonly clock: Clock },
  prober: Prober | null,
): AddressChecker {
  const resolver = createResolver({ servers: config.DNS_SERVERS, ...DNS });
  const { RDAP_URL: base } = config;
  return createAddressChecker({
    clock,
    resolver,
    lists: createAddressLists(config.DATA_DIR, config.TRAP_DOMAINS_FILE),
    allowPrivateMx: config.ALLOW_PRIVATE_MX,
    prober,
    isNewDomain: base === null ? undefined : createDomainAges({ base, clock, resolver }),
  });
}

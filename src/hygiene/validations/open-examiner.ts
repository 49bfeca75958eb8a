/** The examiner of a process, as it is configured. */

import { createResolver } from "#dns/system.ts";
import type { Prober } from "#hygiene/probe/prober.ts";
import type { Clock } from "#platform/clock.ts";
import type { Config } from "#platform/config/config.ts";
import { createDomainAges } from "./domain-age.ts";
import { createExaminer, type Examiner } from "./examiner.ts";
import { createLists } from "./lists.ts";

const DNS = { timeoutMs: 4_000, tries: 4 };

/** Opens nothing before it is asked. */
export function openExaminer(
  { config, clock }: { readonly config: Config; readonly clock: Clock },
  prober: Prober | null,
): Examiner {
  const resolver = createResolver({ servers: config.DNS_SERVERS, ...DNS });
  const { RDAP_URL: base } = config;
  return createExaminer({
    clock,
    resolver,
    lists: createLists(config.DATA_DIR, config.TRAP_DOMAINS_FILE),
    allowPrivateMx: config.ALLOW_PRIVATE_MX,
    prober,
    isNewDomain: base === null ? undefined : createDomainAges({ base, clock, resolver }),
  });
}

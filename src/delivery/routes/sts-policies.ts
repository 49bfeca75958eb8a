/**
 * The MTA-STS policies (RFC 8461) of recipient domains: looked for in the DNS, fetched over HTTPS, kept as long as they
 * say, over restarts too and for every delivery machine. A domain whose policy cannot be had is served as if it had none,
 * as the RFC wants it (section 5.1), unless an earlier policy still holds.
 */

import type { Resolver } from "#dns/resolver.ts";
import { readStsPolicy, readStsRecord, type StsPolicy } from "#mail/dns/mta-sts.ts";
import { ExpiringMap } from "#platform/cache.ts";
import type { Clock } from "#platform/clock.ts";
import type { Queryable } from "#platform/database/pool.ts";
import { getPublic } from "#platform/network/public-get.ts";
import { type FetchedStsPolicy, findStsPolicy, keepStsPolicy } from "./sts-policy-store.ts";

const MOST_DOMAINS = 10_000;
/** RFC 8461 section 3.3: 64 KB are enough for anybody, and a minute; nobody's mail waits as long as that here. */
const MOST_BYTES = 64 * 1024;
const DEADLINE_MS = 10_000;
/** How soon a changed id is seen, and a domain without a policy asked again. */
const RECORD_MS = 60 * 60_000;
/** What could not be had is not tried again for (section 3.3: five minutes or longer). */
const FAULT_MS = 5 * 60_000;
const REFRESH_MS = 24 * 60 * 60_000;

export interface StsOptions {
  readonly db: Queryable;
  readonly clock: Clock;
  readonly resolver: Resolver;
  /** Talk to policy hosts on private and loopback addresses, too. */
  readonly allowPrivate: boolean;
  /** Of the policy hosts; 443 but for tests. */
  readonly port?: number;
  /** Whom to trust; default: the roots that Node brings. */
  readonly ca?: string;
}

export interface StsPolicies {
  /** What the domain demands now; null: nothing. Rejects only where the database does not answer. */
  readonly policyOf: (domain: string) => Promise<StsPolicy | null>;
}

export function createStsPolicies(options: StsOptions): StsPolicies {
  const { db, clock, resolver } = options;
  const now = () => clock.now().getTime();
  const answered = new ExpiringMap<StsPolicy | null>(MOST_DOMAINS, () => clock.monotonicMs());
  const underWay = new Map<string, Promise<StsPolicy | null>>();

  const find = async (domain: string): Promise<StsPolicy | null> => {
    const [earlier, record] = await Promise.all([
      findStsPolicy(db, domain, clock.now()),
      resolver.txt(`_mta-sts.${domain}`),
    ]);
    // An attacker who suppresses the record must not switch the policy off (section 10.2).
    const id = record.outcome === "found" ? readStsRecord(record.records) : null;
    const isKnown = id !== null && id === earlier?.id;
    if (id === null || (isKnown && now() < refreshAt(earlier))) {
      return remember(domain, earlier, record.outcome === "failed" ? FAULT_MS : RECORD_MS);
    }
    const text = await fetchPolicy(options, domain);
    const read = text === null ? { fault: "unreachable" } : readStsPolicy(text);
    if ("fault" in read) return remember(domain, earlier, isKnown ? RECORD_MS : FAULT_MS);
    const fetched = { domain, id, policy: read.policy, fetchedAt: clock.now() };
    await keepStsPolicy(db, fetched);
    return remember(domain, fetched, RECORD_MS);
  };
  const remember = (domain: string, fetched: FetchedStsPolicy | undefined, ms: number) => {
    const inForce = fetched === undefined || fetched.policy.mode === "none" ? null : fetched.policy;
    answered.set(domain, inForce, fetched ? Math.min(ms, expiryOf(fetched) - now()) : ms);
    return inForce;
  };

  return {
    async policyOf(domain) {
      const known = answered.get(domain);
      if (known !== undefined) return known;
      const asked = underWay.get(domain) ?? find(domain).finally(() => underWay.delete(domain));
      underWay.set(domain, asked);
      return asked;
    },
  };
}

/** Section 3.3 suggests once a day; a policy that ages faster is fetched again at half its life. */
function refreshAt({ policy, fetchedAt }: FetchedStsPolicy): number {
  return fetchedAt.getTime() + Math.min(REFRESH_MS, policy.maxAgeSeconds * 500);
}

function expiryOf({ policy, fetchedAt }: FetchedStsPolicy): number {
  return fetchedAt.getTime() + policy.maxAgeSeconds * 1_000;
}

/** The text, or null: whatever is wrong with the host, its certificate or its answer. Redirects are not followed. */
async function fetchPolicy(
  { resolver, allowPrivate, port = 443, ca }: StsOptions,
  domain: string,
): Promise<string | null> {
  const address = `https://mta-sts.${domain}:${port}/.well-known/mta-sts.txt`;
  // The DNS has names that are none to HTTP: malformed A-labels.
  if (!URL.canParse(address)) return null;
  const deadline = AbortSignal.timeout(DEADLINE_MS);
  const answer = await getPublic(new URL(address), {
    resolver,
    deadline,
    most: MOST_BYTES,
    allowPrivate,
    ca,
  });
  return answer?.status === 200 && /^text\/plain\b/i.test(answer.type) ? answer.body : null;
}

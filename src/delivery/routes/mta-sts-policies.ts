/**
 * The MTA-STS policies (RFC 8461) of recipient domains: discovered in DNS, fetched over HTTPS, and kept in the database for
 * their max_age, for all delivery machines. Without a policy that can be fetched, mail is sent as if the domain had none
 * (section 5.1), unless an earlier policy is still valid.
 */

import type { Resolver } from "#dns/resolver-interface.ts";
import { readStsPolicy, readStsRecord, type StsPolicy } from "#mail/dns/mta-sts.ts";
import { ExpiringMap } from "#platform/cache.ts";
import type { Clock } from "#platform/clock.ts";
import type { Queryable } from "#platform/database/pool.ts";
import { getPublic } from "#platform/network/public-get.ts";
import { DAY_MS } from "#platform/time-units.ts";
import { type FetchedStsPolicy, findStsPolicy, keepStsPolicy } from "./mta-sts-store.ts";

const MOST_DOMAINS = 10_000;
/** RFC 8461 section 3.3 suggests limits of 64 KB and one minute; mail waits for the fetch, so the deadline is shorter here. */
const MOST_BYTES = 64 * 1024;
const DEADLINE_MS = 10_000;
/** The delay before the DNS record is looked up again. */
const RECORD_MS = 60 * 60_000;
/** The delay before a failed fetch or look-up is tried again (section 3.3: five minutes or longer). */
const FAULT_MS = 5 * 60_000;
const REFRESH_MS = DAY_MS;

export interface StsOptions {
  readonly db: Queryable;
  readonly clock: Clock;
  readonly resolver: Resolver;
  /** Allows policy hosts on private and loopback addresses. */
  readonly allowPrivate: boolean;
  /** The port of policy hosts; 443 except in tests. */
  readonly port?: number;
  /** A CA certificate in place of Node's roots, for tests. */
  readonly ca?: string;
}

export class StsPolicies {
  readonly #options: StsOptions;
  /** By domain; null: no policy applies. */
  readonly #cached: ExpiringMap<StsPolicy | null>;
  /** Look-ups under way, shared by concurrent calls. */
  readonly #lookUps = new Map<string, Promise<StsPolicy | null>>();

  constructor(options: StsOptions) {
    this.#options = options;
    this.#cached = new ExpiringMap(MOST_DOMAINS, () => options.clock.monotonicMs());
  }

  /** The valid policy of a domain; null without one, or in mode "none". Rejects only when the database fails. */
  async policyOf(domain: string): Promise<StsPolicy | null> {
    const known = this.#cached.get(domain);
    if (known !== undefined) return known;
    const lookUp =
      this.#lookUps.get(domain) ?? this.#lookUp(domain).finally(() => this.#lookUps.delete(domain));
    this.#lookUps.set(domain, lookUp);
    return lookUp;
  }

  async #lookUp(domain: string): Promise<StsPolicy | null> {
    const { db, clock, resolver } = this.#options;
    const [earlier, record] = await Promise.all([
      findStsPolicy(db, domain, clock.now()),
      resolver.txt(`_mta-sts.${domain}`),
    ]);
    // If the record is missing, an earlier policy stays valid: an attacker may suppress the record (section 10.2).
    const id = record.outcome === "found" ? readStsRecord(record.records) : null;
    const isKnown = id !== null && id === earlier?.id;
    if (id === null || (isKnown && this.#now < refreshAt(earlier))) {
      return this.#cache(domain, earlier, record.outcome === "failed" ? FAULT_MS : RECORD_MS);
    }
    const text = await fetchPolicy(this.#options, domain);
    const read = text === null ? { fault: "unreachable" } : readStsPolicy(text);
    if ("fault" in read) return this.#cache(domain, earlier, isKnown ? RECORD_MS : FAULT_MS);
    const fetched = { domain, id, policy: read.policy, fetchedAt: clock.now() };
    await keepStsPolicy(db, fetched);
    return this.#cache(domain, fetched, RECORD_MS);
  }

  /** @returns the policy, unless its mode is "none" */
  #cache(domain: string, fetched: FetchedStsPolicy | undefined, ms: number): StsPolicy | null {
    const policy = fetched === undefined || fetched.policy.mode === "none" ? null : fetched.policy;
    this.#cached.set(domain, policy, fetched ? Math.min(ms, expiryOf(fetched) - this.#now) : ms);
    return policy;
  }

  get #now(): number {
    return this.#options.clock.now().getTime();
  }
}

/** A policy is fetched again after a day (section 3.3), or after half of a shorter max_age. */
function refreshAt({ policy, fetchedAt }: FetchedStsPolicy): number {
  return fetchedAt.getTime() + Math.min(REFRESH_MS, policy.maxAgeSeconds * 500);
}

function expiryOf({ policy, fetchedAt }: FetchedStsPolicy): number {
  return fetchedAt.getTime() + policy.maxAgeSeconds * 1_000;
}

/** The text of the policy; null for any fault of the host, its certificate or its answer. Redirects are not followed. */
async function fetchPolicy(
  { resolver, allowPrivate, port = 443, ca }: StsOptions,
  domain: string,
): Promise<string | null> {
  const address = `https://mta-sts.${domain}:${port}/.well-known/mta-sts.txt`;
  // Some DNS names are not valid in URLs: malformed A-labels.
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

import { getDomain } from "tldts";
import type { NetworkResolver } from "#dns/network-resolver.ts";
import { ExpiringMap } from "#platform/cache.ts";
import type { Clock } from "#platform/clock.ts";
import { createLimiter } from "#platform/concurrency.ts";
import { getPublic } from "#platform/network/public-get.ts";
import { DAY_MS, HOUR_MS } from "#platform/time-units.ts";

const NEW_DAYS = 30;
/** For one look-up with its redirects, the wait for a free slot included. */
const DEADLINE_MS = 5_000;
/** Registries limit the rate of their clients. */
const MOST_AT_ONCE = 4;
const MOST_REDIRECTS = 3;
const MOST_OCTETS = 512 * 1024;
const MOST_DOMAINS = 50_000;
/** How long an unknown registration date is cached. */
const UNKNOWN_MS = HOUR_MS;
const ACCEPT = "application/rdap+json, application/json;q=0.5";

export interface DomainAgeOptions {
  /** The base URL of the RDAP server (RFC 9224). */
  readonly base: URL;
  readonly clock: Clock;
  readonly resolver: Pick<NetworkResolver, "ipv4" | "ipv6">;
  /** Follow redirects to private addresses, too. */
  readonly allowPrivate?: boolean;
}

/** Whether a domain was registered within the last 30 days; null: unknown. Never rejects. */
export type IsNewDomain = (domain: string) => Promise<boolean | null>;

/**
 * Looks registration dates up with RDAP (RFC 9082 section 3.1.3, RFC 9083 section 4.5): new domains are often a spammer's.
 * The operator's server may redirect to that of the registry.
 */
export function createDomainAges({
  base,
  clock,
  resolver,
  allowPrivate = false,
}: DomainAgeOptions): IsNewDomain {
  const now = () => clock.now().getTime();
  /** Registration times in epoch milliseconds; null: unknown. */
  const known = new ExpiringMap<number | null>(MOST_DOMAINS, () => clock.monotonicMs());
  const running = new Map<string, Promise<number | null>>();
  const takeTurn = createLimiter(MOST_AT_ONCE);

  const findRegistration = async (domain: string): Promise<number | null> => {
    const deadline = AbortSignal.timeout(DEADLINE_MS);
    let url = new URL(`domain/${domain}`, base.href.endsWith("/") ? base.href : `${base.href}/`);
    for (let redirects = 0; redirects <= MOST_REDIRECTS; redirects++) {
      // The first URL is the operator's; the others are from answers.
      const mayBePrivate = allowPrivate || redirects === 0;
      const answer = await takeTurn(() =>
        getPublic(url, { resolver, deadline, most: MOST_OCTETS, accept: ACCEPT, allowPrivate: mayBePrivate }),
      );
      if (answer?.status === 200) return registrationIn(answer.body);
      const isRedirect = answer !== null && answer.status >= 300 && answer.status < 400;
      if (!isRedirect || answer.location === null || !URL.canParse(answer.location, url.href)) return null;
      url = new URL(answer.location, url);
    }
    return null;
  };

  const remember = async (domain: string): Promise<number | null> => {
    const registered = await findRegistration(domain).catch(() => null);
    known.set(domain, registered, registered === null ? UNKNOWN_MS : DAY_MS);
    running.delete(domain);
    return registered;
  };

  return async (asked) => {
    const domain = getDomain(asked);
    if (domain === null) return null;
    let registered = known.get(domain);
    if (registered === undefined) {
      const answer = running.get(domain) ?? remember(domain);
      running.set(domain, answer);
      registered = await answer;
    }
    return registered === null ? null : now() - registered < NEW_DAYS * DAY_MS;
  };
}

/** The date of the event "registration" in an RDAP answer, in milliseconds; null when there is none. */
function registrationIn(body: string): number | null {
  try {
    const { events } = JSON.parse(body) as { events?: unknown };
    if (!Array.isArray(events)) return null;
    const registration = events.find((event) => event?.eventAction === "registration");
    const time = Date.parse(String(registration?.eventDate));
    return Number.isNaN(time) ? null : time;
  } catch {
    return null;
  }
}

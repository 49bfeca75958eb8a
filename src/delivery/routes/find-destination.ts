/**
 * Finds the mail hosts of a recipient domain and their lane. Routes are cached for a minute, because a campaign needs the same
 * domains thousands of times; below, DNS answers are cached for their TTL (dns/resolver-interface.ts).
 */

import { isIP } from "node:net";
import type { Lane } from "#delivery/lanes/default-lanes.ts";
import { type Destination, laneFor } from "#delivery/lanes/lanes-by-mx-host.ts";
import type { Lookup, Resolver } from "#dns/resolver-interface.ts";
import type { StsPolicy } from "#mail/dns/mta-sts.ts";
import { AsyncCache } from "#platform/cache.ts";
import { isPublicAddress } from "#platform/network/public-address.ts";
import {
  findMailHosts,
  type MailHost,
  preferredFailure,
  siteName,
  type Unroutable,
  unansweredFlags,
} from "#smtp-client/mx.ts";
import { requiresTls } from "#smtp-client/tls.ts";
import { type DaneLookups, withTlsDemands } from "./tls-demands.ts";

const KEPT_MS = 60_000;
const MOST_KEPT = 50_000;

/** The domain has no destination, permanently or for now. */
export interface NoDestination extends Unroutable {
  /** Missing when the domain has no mail hosts, or when DNS does not name them now. */
  readonly lane?: Lane;
}

export type Route = Destination | NoDestination;

export type FindRoute = (domain: string) => Promise<Route>;

/** Routes by MX (RFC 5321 section 5.1). */
export function routeByMx(options: {
  resolver: Pick<Resolver, "mx" | "ipv4" | "ipv6">;
  allowPrivate: boolean;
  lanes: readonly Lane[];
  /** Finds the MTA-STS policy of a domain. */
  findPolicy?: ((domain: string) => Promise<StsPolicy | null>) | null;
  /** Look-ups for DANE; `resolver` must be the validating one then. */
  dane?: DaneLookups | null;
}): FindRoute {
  const { resolver, allowPrivate, lanes, findPolicy, dane = null } = options;
  return cached(async (domain) => {
    const [found, policy = null] = await Promise.all([
      findMailHosts(resolver, domain, { allowPrivate }),
      findPolicy?.(domain),
    ]);
    if (found.outcome === "unroutable") {
      const { hostNames, ...result } = found;
      return hostNames === undefined ? result : { ...result, lane: laneFor(hostNames, lanes) };
    }
    const considered = found.hosts.map((host) => ({
      ...host,
      isTlsRequired: laneFor([host.name], lanes).tls_required,
    }));
    const hosts = await withTlsDemands(considered, { domain, policy, dane });
    if ("outcome" in hosts) return { ...hosts, lane: laneFor(found.hosts.map(nameOf), lanes) };
    return { hosts, site: siteName(hosts.map(nameWithDemand)), lane: laneFor(hosts.map(nameOf), lanes) };
  });
}

function nameOf({ name }: MailHost): string {
  return name;
}

/** The host name with its TLS demand, so that a session is shared only by domains with the same demand. */
function nameWithDemand({ name, tls }: MailHost): string {
  return requiresTls(tls) ? `${name} (${tls.by})` : name;
}

/** Routes everything to one smart host, an address or a name. */
export function routeToRelay(
  host: string,
  options: {
    readonly resolver: Resolver;
    readonly lane: Lane;
    /** True for the operator's smart host; one that a workspace names must have a public address. */
    readonly allowPrivate: boolean;
    /** The setting that names the host, for the reason of a failure. */
    readonly setting: string;
  },
): FindRoute {
  const { resolver, lane, allowPrivate, setting } = options;
  return cached(async () => {
    const lookups: readonly Lookup<string>[] = isIP(host)
      ? []
      : await Promise.all([resolver.ipv4(host), resolver.ipv6(host)]);
    const found = lookups.flatMap((answer) => (answer.outcome === "found" ? answer.records : []));
    const all = isIP(host) ? [host] : found;
    const addresses = all.filter((address) => allowPrivate || isPublicAddress(address));
    if (addresses.length > 0) return { site: host, lane, hosts: [{ name: host, addresses }] };
    const undone = { outcome: "unroutable", status: "deferred", enhanced: "4.4.3", lane } as const;
    const failure = preferredFailure(lookups.filter((answer) => answer.outcome === "failed"));
    if (all.length === 0 && failure?.isUnanswered) {
      const reason = `DNS look-up for the relay ${host} failed: ${failure.reason}`;
      return { ...undone, reason, ...unansweredFlags(failure) };
    }
    const reason = `the relay ${host} has no ${all.length > 0 ? "public " : ""}address: check ${setting}`;
    return { ...undone, reason };
  });
}

/** Caches routes for a minute. A temporary failure is shared by concurrent calls only. */
function cached(find: FindRoute): FindRoute {
  const routes = new AsyncCache<Route>({
    ms: KEPT_MS,
    most: MOST_KEPT,
    isKept: (route) => !("outcome" in route && route.status === "deferred"),
  });
  return (domain) => routes.get(domain, () => find(domain));
}

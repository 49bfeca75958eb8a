/**
 * From a recipient's domain to the hosts that take its mail and the lane they belong to. Answers are kept for a minute: a
 * campaign asks for the same domains thousands of times. What the DNS has said is kept for its TTL below (platform/dns).
 */

import { isIP } from "node:net";
import type { Destination } from "#delivery/lanes/lanes.ts";
import { type Lane, laneFor } from "#delivery/lanes/lanes.ts";
import type { Lookup, Resolver } from "#dns/resolver.ts";
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

/** Its mail goes nowhere, at least for now. */
export interface NoDestination extends Unroutable {
  /** Left out where the domain has no mail hosts, or DNS does not name them now. */
  readonly lane?: Lane;
}

export type Route = Destination | NoDestination;

export type FindRoute = (domain: string) => Promise<Route>;

/** By MX, as RFC 5321 section 5.1 has it. */
export function routeByMx(options: {
  resolver: Pick<Resolver, "mx" | "ipv4" | "ipv6">;
  allowPrivate: boolean;
  lanes: readonly Lane[];
  /** The MTA-STS policy of a domain. */
  findPolicy?: ((domain: string) => Promise<StsPolicy | null>) | null;
  /** For DANE, to which `resolver` has to tell the truth about DNSSEC. */
  dane?: DaneLookups | null;
}): FindRoute {
  const { resolver, allowPrivate, lanes, findPolicy, dane = null } = options;
  return remembering(async (domain) => {
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
    return { hosts, site: siteName(hosts.map(provenName)), lane: laneFor(hosts.map(nameOf), lanes) };
  });
}

function nameOf({ name }: MailHost): string {
  return name;
}

/** A host with the proof it has to give; nobody who demands it shares sessions with somebody who does not. */
function provenName({ name, tls }: MailHost): string {
  return requiresTls(tls) ? `${name} (${tls.by})` : name;
}

/** Everything to one smart host, an address or a name. */
export function routeToRelay(
  host: string,
  options: {
    readonly resolver: Resolver;
    readonly lane: Lane;
    /** The operator's own may stand in the operator's network; one that a workspace names may not. */
    readonly allowPrivate: boolean;
    /** Where the operator or the workspace has named it. */
    readonly setting: string;
  },
): FindRoute {
  const { resolver, lane, allowPrivate, setting } = options;
  return remembering(async () => {
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

/** Keeps routes for a minute; what could not be found out is only shared by those who ask at the same moment. */
function remembering(find: FindRoute): FindRoute {
  const routes = new AsyncCache<Route>({
    ms: KEPT_MS,
    most: MOST_KEPT,
    isKept: (route) => !("outcome" in route && route.status === "deferred"),
  });
  return (domain) => routes.get(domain, () => find(domain));
}

/**
 * From a recipient's domain to the hosts that take its mail and the lane they belong to. Answers are kept for a few
 * minutes: a campaign asks for the same domains thousands of times.
 */
import { isIP } from "node:net";
import type { Resolver } from "../mail/resolver.ts";
import { Answers } from "../platform/remember.ts";
import { type Lane, laneFor } from "./lanes.ts";
import { findMailHosts, type MailHost, siteName, type Unroutable } from "./mx.ts";

const KEPT_MS = 5 * 60_000;
const MOST_KEPT = 50_000;

/** Where the mail of a domain goes. Domains of one site share its connections. */
export interface Destination {
  readonly site: string;
  readonly lane: Lane;
  /** In the order to try them. */
  readonly hosts: readonly MailHost[];
}

export type Route = Destination | Unroutable;

export type FindRoute = (domain: string) => Promise<Route>;

/** By MX, as RFC 5321 section 5.1 has it. */
export function routeByMx(options: {
  resolver: Resolver;
  allowPrivate: boolean;
  lanes: readonly Lane[];
}): FindRoute {
  return remembering(async (domain) => {
    const found = await findMailHosts(options.resolver, domain, { allowPrivate: options.allowPrivate });
    if (found.outcome === "unroutable") return found;
    const names = found.hosts.map((host) => host.name);
    return { hosts: found.hosts, site: siteName(names), lane: laneFor(names, options.lanes) };
  });
}

/** Everything to one smart host, an address or a name; the operator's own network may hold it. */
export function routeToRelay(host: string, lane: Lane, resolver: Resolver): FindRoute {
  return remembering(async () => {
    if (isIP(host)) return { site: host, lane, hosts: [{ name: host, addresses: [host] }] };
    const [ipv4, ipv6] = await Promise.all([resolver.ipv4(host), resolver.ipv6(host)]);
    const addresses = [ipv4, ipv6].flatMap((answer) => (answer.outcome === "found" ? answer.records : []));
    if (addresses.length > 0) return { site: host, lane, hosts: [{ name: host, addresses }] };
    const reason = `the relay ${host} has no address: check RELAY_URL`;
    return { outcome: "unroutable", status: "deferred", enhanced: "4.4.3", reason };
  });
}

/** Keeps routes for some minutes; what could not be found out is only shared by those who ask at the same moment. */
function remembering(find: FindRoute): FindRoute {
  const routes = new Answers<Route>({
    ms: KEPT_MS,
    most: MOST_KEPT,
    isKept: (route) => !("outcome" in route && route.status === "deferred"),
  });
  return (domain) => routes.get(domain, () => find(domain));
}

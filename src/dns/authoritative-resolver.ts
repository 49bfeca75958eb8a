/**
 * A resolver that asks the authoritative name servers of a domain, so that a new record is seen at once, before a negative
 * answer expires in a cache. The local resolver is asked for everything else: other domains, zones whose name servers are
 * unknown or unreachable, and names that are aliases (CNAME) for a name outside the zone.
 */

import { dnsServerText } from "#platform/dns-server-address.ts";
import { isPublicAddress } from "#platform/network/public-address.ts";
import { createResolver, type NetworkResolver } from "./network-resolver.ts";

export interface AuthoritativeOptions {
  /** For one question to the authoritative servers; short, because the local resolver is asked next. */
  readonly timeoutMs: number;
  /** DNS_SERVERS; if it names any, only these are asked. */
  readonly servers: readonly string[];
  readonly port?: number;
  /** Whether a name server with this address may be asked; by default, if the address is public. */
  readonly mayAsk?: (address: string) => boolean;
}

const DNS_PORT = 53;
/** Name servers of a zone that are asked. Zones usually have two to eight, but could list thousands. */
const MOST_SERVERS = 4;
const TRIES = 2;

/**
 * A resolver for `domain` and the names below it. It looks up the name servers of each zone only once, so create a new one
 * for every check.
 */
export function askAuthoritative(
  local: NetworkResolver,
  domain: string,
  { timeoutMs, servers, port = DNS_PORT, mayAsk = isPublicAddress }: AuthoritativeOptions,
): NetworkResolver {
  if (servers.length > 0) return local;
  const zones = new Map<string, Promise<NetworkResolver | null>>();

  const zoneOf = (name: string): Promise<NetworkResolver | null> => {
    const zone = zones.get(name) ?? findZone(name);
    zones.set(name, zone);
    return zone;
  };

  /**
   * The zone of a name starts at the name itself or at its nearest ancestor with NS records, never at a top-level
   * domain.
   */
  const findZone = async (name: string): Promise<NetworkResolver | null> => {
    const nameServers = await local.ns(name);
    if (nameServers.outcome === "failed") return null;
    if (nameServers.outcome === "absent") return parentOf(name).includes(".") ? zoneOf(parentOf(name)) : null;
    const known = nameServers.records.slice(0, MOST_SERVERS);
    const addresses = (await Promise.all(known.map(addressesOf))).flat().filter(mayAsk);
    if (addresses.length === 0) return null;
    const asked = addresses.slice(0, MOST_SERVERS).map((address) => dnsServerText({ host: address, port }));
    return createResolver({ servers: asked, timeoutMs, tries: TRIES, isFresh: true, isOfZone: true });
  };

  const addressesOf = async (nameServer: string): Promise<readonly string[]> => {
    const ipv4 = await local.ipv4(nameServer);
    if (ipv4.outcome === "found") return ipv4.records;
    const ipv6 = await local.ipv6(nameServer);
    return ipv6.outcome === "found" ? ipv6.records : [];
  };

  const choose =
    <Answer extends { readonly outcome: string }>(
      question: (resolver: NetworkResolver) => (name: string) => Promise<Answer>,
    ) =>
    async (questionName: string): Promise<Answer> => {
      const name = questionName.toLowerCase();
      const zone = name === domain || name.endsWith(`.${domain}`) ? await zoneOf(name) : null;
      if (zone === null) return question(local)(name);
      const answer = await question(zone)(name);
      const settled =
        answer.outcome === "found" || (answer.outcome === "absent" && !(await isAlias(zone, name)));
      return settled ? answer : question(local)(name);
    };

  return {
    mx: choose((resolver) => resolver.mx),
    ipv4: choose((resolver) => resolver.ipv4),
    ipv6: choose((resolver) => resolver.ipv6),
    txt: choose((resolver) => resolver.txt),
    cname: choose((resolver) => resolver.cname),
    ns: choose((resolver) => resolver.ns),
    ptr: choose((resolver) => resolver.ptr),
  };
}

/** Authoritative servers do not follow an alias out of their zone: "no such record" then refers to the alias only. */
async function isAlias(zone: NetworkResolver, name: string): Promise<boolean> {
  return (await zone.cname(name)).outcome !== "absent";
}

const parentOf = (name: string): string => name.slice(name.indexOf(".") + 1);

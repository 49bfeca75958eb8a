/**
 * Asks a domain's own name servers, so that a record is seen the moment it is published and not when a cache lets go
 * of its absence. Whatever they cannot settle is asked of the local resolver: other domains, zones whose servers are
 * not found or not reached, and names that lead out of the zone by an alias.
 */

import { isPublicAddress } from "#platform/network/public-address.ts";
import { createResolver, type NetworkResolver } from "./system.ts";

export interface AuthoritativeOptions {
  /** Time for one question to the domain's servers, in milliseconds; short, because there is somebody else to ask. */
  readonly timeoutMs: number;
  /** The operator's DNS_SERVERS: when there are any, they alone are asked. */
  readonly servers: readonly string[];
  readonly port?: number;
  /** Which addresses of name servers may be asked: by default the public ones. */
  readonly mayAsk?: (address: string) => boolean;
}

const DNS_PORT = 53;
/** Domains have two to eight name servers; the first few are enough, and a zone could name a thousand. */
const MOST_SERVERS = 4;
const TRIES = 2;

/**
 * A resolver for the names at and below `domain`; it learns the name servers of each zone once, so it is made anew
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

  /** The zone that holds a name begins at it or at its nearest ancestor with name servers, never a top-level domain. */
  const findZone = async (name: string): Promise<NetworkResolver | null> => {
    const nameServers = await local.ns(name);
    if (nameServers.outcome === "failed") return null;
    if (nameServers.outcome === "absent") return parentOf(name).includes(".") ? zoneOf(parentOf(name)) : null;
    const known = nameServers.records.slice(0, MOST_SERVERS);
    const addresses = (await Promise.all(known.map(addressesOf))).flat().filter(mayAsk);
    if (addresses.length === 0) return null;
    const asked = addresses.slice(0, MOST_SERVERS).map((address) => serverAt(address, port));
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

/** The servers of a zone do not follow an alias out of it: their "no such record" speaks of the alias only. */
async function isAlias(zone: NetworkResolver, name: string): Promise<boolean> {
  return (await zone.cname(name)).outcome !== "absent";
}

const parentOf = (name: string): string => name.slice(name.indexOf(".") + 1);

const serverAt = (address: string, port: number): string =>
  address.includes(":") ? `[${address}]:${port}` : `${address}:${port}`;

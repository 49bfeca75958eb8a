/** The DNS provider of a domain, from its NS records, and how its form wants names: data in dns-providers.json. */
import { type Static, Type } from "typebox";
import type { Resolver } from "#dns/resolver-interface.ts";
import { organisationalDomain } from "#mail/dns/dmarc-policy.ts";
import { networkList } from "#platform/network/ip-networks.ts";
import { nullable } from "#platform/shapes.ts";
import providers from "./dns-providers.json" with { type: "json" };

export const DnsProvider = Type.Object(
  {
    name: nullable(
      Type.String({ description: "The provider, for example `Cloudflare`; null for an unknown one." }),
    ),
    zone: Type.String({
      description: "The domain that its name servers have: forms append it to the name that is entered.",
    }),
    name_servers: Type.Array(Type.String(), { description: "The name servers of the zone, 10 at most." }),
    name_field: nullable(
      Type.String({ description: "What its form calls the name of a record; null if unknown." }),
    ),
    value_field: nullable(
      Type.String({ description: "What its form calls the value of a record; null if unknown." }),
    ),
    proxies_aliases: Type.Boolean({
      description: "Whether it can answer with its own addresses in the place of a CNAME; switch that off.",
    }),
  },
  { $id: "DnsProvider" },
);
export type DnsProvider = Static<typeof DnsProvider>;

const MOST_SERVERS = 10;
/** Labels of a name whose NS records are looked up. */
const MOST_LABELS = 8;

/** Null if no name servers are found for the domain, or for those above it up to the registered one. */
export async function findDnsProvider(resolver: Resolver, domain: string): Promise<DnsProvider | null> {
  const registered = organisationalDomain(domain);
  const above = domain.slice(0, -registered.length).split(".").filter(Boolean).slice(-MOST_LABELS);
  for (let skipped = 0; skipped <= above.length; skipped++) {
    const zone = [...above.slice(skipped), registered].join(".");
    const answer = await resolver.ns(zone);
    if (answer.outcome === "failed") return null;
    if (answer.outcome === "found") return providerOf(zone, answer.records.slice(0, MOST_SERVERS));
  }
  return null;
}

function providerOf(zone: string, nameServers: readonly string[]): DnsProvider {
  const known = knownProvider(nameServers);
  return {
    name: known?.name ?? null,
    zone,
    name_servers: [...nameServers].sort(),
    name_field: known?.name_field ?? null,
    value_field: known?.value_field ?? null,
    proxies_aliases: (known?.proxy_networks ?? []).length > 0,
  };
}

/**
 * Whether the address is one of those with which the provider answers in the place of a CNAME. Cloudflare's networks are those
 * of www.cloudflare.com/ips in February 2026. They count only for a zone on its name servers: there, an address outside of
 * them is shown as an address record.
 */
export function isOfProxy(provider: Pick<DnsProvider, "name"> | null, address: string): boolean {
  const { proxy_networks = [] } = providers.find(({ name }) => name === provider?.name) ?? {};
  return networkList(proxy_networks)(address);
}

/** The provider of the first name server that is known. */
function knownProvider(nameServers: readonly string[]) {
  const isOf = (server: string, pattern: string) =>
    pattern.startsWith(".") ? `.${server}`.endsWith(pattern) : server.includes(pattern);
  return nameServers
    .map((server) =>
      providers.find(({ name_servers }) => name_servers.some((pattern) => isOf(server, pattern))),
    )
    .find((provider) => provider !== undefined);
}

/**
 * What to enter as the name of a record in the form of a provider that appends the zone.
 * @param zone null if it is unknown: then the registered domain
 */
export function nameInForm(host: string, provider: Pick<DnsProvider, "name" | "zone"> | null): string {
  const zone = provider?.zone ?? organisationalDomain(host);
  if (host !== zone) return host.endsWith(`.${zone}`) ? host.slice(0, -zone.length - 1) : host;
  return providers.find(({ name }) => name === provider?.name)?.zone_name ?? "@";
}

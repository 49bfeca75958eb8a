/**
 * Checks that a customer's host is a CNAME of one of ours. An address record is not enough: a CNAME follows when our
 * addresses change.
 */
import { lookUpFault } from "#dns/look-up-fault.ts";
import type { Resolver } from "#dns/resolver-interface.ts";
import { diagnosed } from "./diagnose.ts";
import type { DnsCheck } from "./dns-check.ts";
import { findDnsProvider, isOfProxy } from "./dns-provider.ts";

/** @param target in lower case */
export async function checkAlias(resolver: Resolver, host: string, target: string): Promise<DnsCheck> {
  const answer = await resolver.cname(host);
  const found = answer.outcome === "found" ? [...answer.records] : [];
  const place = { host, type: "CNAME", expected: target, found, found_host: null } as const;
  if (answer.outcome === "failed") {
    const message = lookUpFault(host, answer);
    return diagnosed({ ...place, status: "error", message });
  }
  if (found.length === 0) return checkAddresses(resolver, place);
  return diagnosed(
    found.includes(target)
      ? { ...place, status: "verified", message: `${host} is an alias of ${target}.` }
      : { ...place, status: "mismatch", message: `${host} is an alias of another host than ${target}.` },
  );
}

/** The check of a host that is no alias. It may have addresses: its own, or those of a provider's proxy. */
async function checkAddresses(
  resolver: Resolver,
  place: Pick<DnsCheck, "host" | "type" | "expected" | "found" | "found_host">,
): Promise<DnsCheck> {
  const { host } = place;
  const [ipv4, ipv6] = await Promise.all([resolver.ipv4(host), resolver.ipv6(host)]);
  const found = [ipv4, ipv6].flatMap((answer) => (answer.outcome === "found" ? answer.records : []));
  if (found.length === 0) {
    const message = `${host} is not an alias: add the CNAME record.`;
    return diagnosed({ ...place, status: "missing", message });
  }
  const provider = await findDnsProvider(resolver, host);
  const isProxied = found.every((address) => isOfProxy(provider, address));
  const message = isProxied
    ? `${host} has addresses of the proxy of ${provider?.name} and no visible CNAME: switch the proxy of the record off (DNS only).`
    : `${host} has an address record: replace it by the CNAME record.`;
  const diagnosis = isProxied ? "proxied" : "address_record";
  return { ...place, found, status: "missing", message, diagnosis };
}

/**
 * Evaluates an SPF record for one IP address, as a receiver does (RFC 7208 sections 4.6 and 5). It stops at the first
 * match and ignores the limits of look-ups, which spf-check.ts counts.
 */
import { BlockList, isIPv4 } from "node:net";
import type { Resolver } from "#dns/resolver-interface.ts";
import { findSpfRecord, hasMacro, type SpfRecord } from "./spf-record.ts";
import type { SpfDirective } from "./spf-term.ts";

/** No record within the limit of ten look-ups is nested deeper. */
const MOST_DEPTH = 10;

type Names = Pick<Resolver, "txt" | "mx" | "ipv4" | "ipv6">;

/** Whether mail from the address passes; null if that depends on the message, or if a look-up fails. */
export async function passesSpf(
  resolver: Names,
  { domain, record }: { readonly domain: string; readonly record: SpfRecord },
  ip: string,
  depth = 0,
): Promise<boolean | null> {
  for (const directive of record.directives) {
    const isMatch = await matches(resolver, directive, domain, ip, depth);
    if (isMatch === null) return null;
    if (isMatch) return directive.qualifier === "+";
  }
  return record.redirect === null ? false : passesReference(resolver, record.redirect, ip, depth);
}

/** Evaluates the record of an include or a redirect. */
async function passesReference(
  resolver: Names,
  domain: string,
  ip: string,
  depth: number,
): Promise<boolean | null> {
  if (hasMacro(domain) || depth === MOST_DEPTH) return null;
  const { published } = await findSpfRecord(resolver, domain);
  if (published.kind === "failed") return null;
  if (published.kind !== "record") return false;
  return passesSpf(resolver, { domain, record: published.record }, ip, depth + 1);
}

async function matches(
  resolver: Names,
  { mechanism, value, prefix }: SpfDirective,
  domain: string,
  ip: string,
  depth: number,
): Promise<boolean | null> {
  const name = value ?? domain;
  switch (mechanism) {
    case "all":
      return true;
    case "ip4":
    case "ip6":
      return isInPrefix(ip, name, prefix);
    case "include":
      return passesReference(resolver, name, ip, depth);
    case "a":
      return resolvesTo(resolver, name, ip, prefix);
    case "mx": {
      if (hasMacro(name)) return null;
      const answer = await resolver.mx(name);
      if (answer.outcome === "failed") return null;
      const hosts = answer.outcome === "found" ? answer.records : [];
      const found = await Promise.all(
        hosts.map(({ exchange }) => resolvesTo(resolver, exchange, ip, prefix)),
      );
      return found.includes(true) || (found.includes(null) ? null : false);
    }
    case "ptr":
    case "exists":
      return null;
  }
}

async function resolvesTo(
  resolver: Names,
  name: string,
  ip: string,
  prefix: SpfDirective["prefix"],
): Promise<boolean | null> {
  if (hasMacro(name)) return null;
  const answer = await (isIPv4(ip) ? resolver.ipv4(name) : resolver.ipv6(name));
  if (answer.outcome === "failed") return null;
  return answer.outcome === "found" && answer.records.some((address) => isInPrefix(ip, address, prefix));
}

/** Whether two addresses of one family share their first `prefix` bits. */
function isInPrefix(ip: string, other: string, prefix: SpfDirective["prefix"]): boolean {
  const family = isIPv4(ip) ? "ipv4" : "ipv6";
  if (isIPv4(other) !== isIPv4(ip)) return false;
  const network = new BlockList();
  network.addSubnet(other, prefix[family], family);
  return network.check(ip, family);
}

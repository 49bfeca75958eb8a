/**
 * Checks that a customer's host is a CNAME of one of ours. An address record is not enough: a CNAME follows when our
 * addresses change.
 */
import type { Resolver } from "#dns/resolver-interface.ts";
import type { DnsCheck } from "./dns-check.ts";

/** @param target in lower case */
export async function checkAlias(resolver: Resolver, host: string, target: string): Promise<DnsCheck> {
  const answer = await resolver.cname(host);
  const found = answer.outcome === "found" ? [...answer.records] : [];
  const place = { host, type: "CNAME", expected: target, found, found_host: null } as const;
  if (answer.outcome === "failed") {
    return { ...place, status: "error", message: `${host} could not be looked up (${answer.reason}).` };
  }
  if (found.length === 0) {
    return { ...place, status: "missing", message: `${host} is not an alias: add the CNAME record.` };
  }
  return found.includes(target)
    ? { ...place, status: "verified", message: `${host} is an alias of ${target}.` }
    : { ...place, status: "mismatch", message: `${host} is an alias of another host than ${target}.` };
}

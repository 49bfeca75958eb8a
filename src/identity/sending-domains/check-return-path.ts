/** Does the domain's own return path lead to us? Only an alias will do: both MX and SPF have to be the platform's. */
import type { Resolver } from "../../mail/resolver.ts";
import type { DnsCheck } from "../dns-check.ts";
import { customReturnPathHost } from "../return-path.ts";

export async function checkReturnPath(
  resolver: Resolver,
  domain: string,
  bounceDomain: string,
): Promise<DnsCheck> {
  const host = customReturnPathHost(domain);
  const expected = bounceDomain.toLowerCase();
  const answer = await resolver.cname(host);
  const found = answer.outcome === "found" ? [...answer.records] : [];
  const place = { host, type: "CNAME", expected, found } as const;
  if (answer.outcome === "failed") {
    return { ...place, status: "error", message: `${host} could not be looked up (${answer.reason}).` };
  }
  if (found.length === 0) {
    return { ...place, status: "missing", message: `${host} is no alias; add the CNAME record.` };
  }
  return found.includes(expected)
    ? { ...place, status: "verified", message: `${host} is an alias of ${expected}.` }
    : { ...place, status: "mismatch", message: `${host} is an alias of another host than ${expected}.` };
}

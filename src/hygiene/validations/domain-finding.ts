/** What the DNS says of the domain of an address, by the rules that mail is delivered by (smtp-client/mx.ts). */

import type { Resolver } from "#dns/resolver.ts";
import { findMailHosts } from "#smtp-client/mx.ts";
import type { DomainFinding } from "./findings.ts";

/** For all look-ups of a domain together. */
const DEADLINE_MS = 5_000;

/** Never rejects. */
export async function lookUpDomain(
  resolver: Resolver,
  domain: string,
  allowPrivate: boolean,
): Promise<DomainFinding> {
  let hasMx = false;
  const watched: Resolver = {
    ...resolver,
    async mx(name, how) {
      const answer = await resolver.mx(name, how);
      hasMx = answer.outcome === "found" && answer.records.some(({ exchange }) => exchange !== "");
      return answer;
    },
  };
  const found = await findMailHosts(watched, domain, { allowPrivate, deadlineMs: DEADLINE_MS });
  if (found.outcome === "found") {
    return { outcome: "deliverable", hasMx, hosts: found.hosts.map(({ name }) => name) };
  }
  const outcome = found.status === "deferred" ? "unknown" : "undeliverable";
  return { outcome, hasMx, hosts: [], reason: found.reason };
}

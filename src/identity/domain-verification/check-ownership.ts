/**
 * Checks that the workspace's token is in the domain's DNS. A TXT record `posthaste-verification=<token>` counts at
 * `_posthaste-verify.<domain>` and at the domain itself, beside other records, and also behind an alias. A wildcard
 * record of another purpose, or the token of another workspace, proves nothing.
 */

import { lookUpFault } from "#dns/look-up-fault.ts";
import type { Resolver } from "#dns/resolver-interface.ts";
import { diagnosed } from "#identity/dns-checks/diagnose.ts";
import type { DnsCheck } from "#identity/dns-checks/dns-check.ts";
import { findMisplaced, misplacedRecordMessage } from "#mail/dns/misplaced-record.ts";

const PREFIX = "posthaste-verification=";

export async function checkOwnership(resolver: Resolver, domain: string, token: string): Promise<DnsCheck> {
  const ownHost = `_posthaste-verify.${domain}`;
  const expected = PREFIX + token;
  const [atOwnHost, atDomain] = await Promise.all(
    [ownHost, domain].map(async (host) => {
      const answer = await resolver.txt(host);
      const texts = answer.outcome === "found" ? answer.records : [];
      const found = texts.filter((text) => spelling(text).startsWith(PREFIX));
      const isProved = found.some((text) => spelling(text) === expected);
      return { host, found, isProved, failure: answer.outcome === "failed" ? answer : null };
    }),
  );
  const places = [atOwnHost, atDomain].filter((place) => place !== undefined);
  const conclude = (
    status: DnsCheck["status"],
    message: string,
    { host = ownHost, found, found_host = null }: Partial<DnsCheck> = {},
  ): DnsCheck =>
    diagnosed({
      status,
      host,
      type: "TXT",
      expected,
      found: found ?? places.flatMap((place) => place.found),
      found_host,
      message,
    });
  const proof = places.find((place) => place.isProved);
  if (proof !== undefined) {
    return conclude("verified", `The verification record is published at ${proof.host}.`, proof);
  }
  for (const { host, failure } of places) {
    if (failure !== null) return conclude("error", lookUpFault(host, failure));
  }
  const other = places.find((place) => place.found.length > 0);
  if (other !== undefined) {
    return conclude(
      "mismatch",
      `The verification record at ${other.host} holds another token than the expected one.`,
    );
  }
  const misplaced = await findMisplaced(resolver, ownHost, [], (text) => spelling(text) === expected);
  if (misplaced === null) {
    return conclude("missing", `No verification record was found; add the TXT record at ${ownHost}.`);
  }
  const message = misplacedRecordMessage("verification", misplaced.host, ownHost);
  return conclude("mismatch", message, { found: [...misplaced.texts], found_host: misplaced.host });
}

/** DNS panels add quotation marks, blanks and capitals; the token contains none of them. */
function spelling(text: string): string {
  return text.replace(/["\s]/g, "").toLowerCase();
}

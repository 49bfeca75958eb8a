/** Finds records that were published at a wrong name: DNS panels append the zone to the name that is entered. */
import { getDomain } from "tldts";
import type { Resolver } from "#dns/resolver-interface.ts";
import { decodedText } from "./txt-cleanup.ts";

/** The wrong name, and the records found there. */
export interface MisplacedRecord {
  readonly host: string;
  readonly texts: readonly string[];
}

/** A name that no zone has, so any answer for it comes from a wildcard. */
const UNUSED_LABEL = "_posthaste-no-such-name";

/**
 * Looks for records of a kind at the right name with the domain or its zone appended, and at `others`; null if there
 * are none. A failed look-up counts as not found.
 * @param host the right name, in lower case
 */
export async function findMisplaced(
  resolver: Resolver,
  host: string,
  others: readonly string[],
  isOfKind: (text: string) => boolean,
): Promise<MisplacedRecord | null> {
  const domain = host.replace(/^(?:.*\.)?_(?:dmarc|domainkey|posthaste-verify)\./, "");
  const zone = getDomain(domain, { allowPrivateDomains: true }) ?? domain;
  const hosts = [...new Set([`${host}.${domain}`, `${host}.${zone}`, ...others])];
  const found = await Promise.all(hosts.map((name) => textsAt(resolver, name, isOfKind)));
  const at = found.findIndex((texts) => texts.length > 0);
  const [name, texts] = [hosts[at], found[at]];
  if (name === undefined || texts === undefined) return null;
  const ofWildcard = await textsAt(resolver, `${UNUSED_LABEL}.${domain}`, isOfKind);
  return ofWildcard.some((text) => texts.includes(text)) ? null : { host: name, texts };
}

/** The sentence that tells the owner where to publish the record. @param right the name where receivers look */
export function misplacedRecordMessage(kind: string, host: string, right: string): string {
  return `The ${kind} record is published at ${host}, where receivers do not look: publish it at ${right}. DNS panels append the zone to the name that is entered.`;
}

async function textsAt(
  resolver: Resolver,
  host: string,
  isOfKind: (text: string) => boolean,
): Promise<string[]> {
  const answer = await resolver.txt(host);
  return answer.outcome === "found" ? answer.records.map(decodedText).filter(isOfKind) : [];
}

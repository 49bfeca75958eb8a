/** Checks that a key's record is in the DNS. Its p= value is compared, not the text (mail/dkim/dkim.ts). */

import { lookUpFault } from "#dns/look-up-fault.ts";
import type { Resolver } from "#dns/resolver-interface.ts";
import { diagnosed } from "#identity/dns-checks/diagnose.ts";
import type { DnsCheck } from "#identity/dns-checks/dns-check.ts";
import { dkimKeyMatches, dkimRecordValue, isMeantAsDkim } from "#mail/dkim/dkim.ts";
import { findMisplaced, misplacedRecordMessage } from "#mail/dns/misplaced-record.ts";

type PublicKey = { readonly domain: string; readonly selector: string; readonly public_key: string };

/** The TXT record that publishes a key (RFC 6376 section 3.6.2.1). */
export function keyRecord({ domain, selector, public_key }: PublicKey) {
  return {
    type: "TXT",
    host: `${selector}._domainkey.${domain}`,
    value: dkimRecordValue(public_key),
  } as const;
}

export async function checkKeyRecord(resolver: Resolver, key: PublicKey): Promise<DnsCheck> {
  const { type, host, value } = keyRecord(key);
  const place = { type, host, expected: value, found_host: null };
  const answer = await resolver.txt(host);
  if (answer.outcome === "failed") {
    const message = lookUpFault(host, answer);
    return diagnosed({ ...place, status: "error", found: [], message });
  }
  const texts = answer.outcome === "found" ? answer.records : [];
  const { status, found, message } = dkimKeyMatches(texts, key.public_key);
  if (status === "missing") {
    const below = `${key.selector}.${key.domain}`;
    const misplaced = await findMisplaced(resolver, host, [below, key.domain], isMeantAsDkim);
    if (misplaced !== null) {
      const sentence = misplacedRecordMessage("DKIM", misplaced.host, host);
      return diagnosed({
        ...place,
        status: "mismatch",
        found: [...misplaced.texts],
        found_host: misplaced.host,
        message: sentence,
      });
    }
  }
  return diagnosed({ ...place, status, found: [...found], message });
}

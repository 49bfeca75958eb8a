/** One live check of everything a sending domain has in the DNS. Nothing here throws or changes anything. */

import type { Resolver } from "#dns/resolver.ts";
import { checkKeyRecord } from "#identity/dkims/check-record.ts";
import type { CheckedDkimKey } from "#identity/dkims/store.ts";
import type { DnsCheck } from "#identity/dns-checks/dns-check.ts";
import type { CheckedDomain } from "#identity/sending-domains/store.ts";
import { checkDomainDmarc, reportAddress } from "./check-dmarc.ts";
import { checkOwnership } from "./check-ownership.ts";
import { checkReturnPath } from "./check-return-path.ts";
import { checkDomainSpf, type SpfDnsCheck } from "./check-spf.ts";

/** The platform's side of the records. */
export interface PlatformDomains {
  readonly BOUNCE_DOMAIN: string;
  readonly PLATFORM_SPF_DOMAIN: string;
}

export interface KeyCheck {
  readonly key: CheckedDkimKey;
  readonly check: DnsCheck;
}

export interface DomainChecks {
  readonly ownership: DnsCheck;
  readonly spf: SpfDnsCheck;
  readonly dmarc: DnsCheck;
  /** Every key of the domain, the one that signs first. */
  readonly keys: readonly KeyCheck[];
  /** Null while switched off, like the next. */
  readonly return_path: DnsCheck | null;
  readonly dmarc_reports: DnsCheck | null;
}

export async function checkDns(
  resolver: Resolver,
  { domain, ...settings }: CheckedDomain,
  keys: readonly CheckedDkimKey[],
  platform: PlatformDomains,
): Promise<DomainChecks> {
  const reportsTo = settings.dmarc_ingestion
    ? reportAddress(settings.dmarc_token, platform.BOUNCE_DOMAIN)
    : null;
  const [ownership, spf, { dmarc, reports }, returnPath, keyChecks] = await Promise.all([
    checkOwnership(resolver, domain, settings.verification_token),
    checkDomainSpf(resolver, domain, platform.PLATFORM_SPF_DOMAIN),
    checkDomainDmarc(resolver, domain, reportsTo),
    settings.custom_return_path ? checkReturnPath(resolver, domain, platform.BOUNCE_DOMAIN) : null,
    Promise.all(keys.map(async (key) => ({ key, check: await checkKeyRecord(resolver, key) }))),
  ]);
  return { ownership, spf, dmarc, keys: keyChecks, return_path: returnPath, dmarc_reports: reports };
}

/** The key to speak of when there are several: one that is published, and of those the one that signs. */
export function decisiveKey({ keys }: DomainChecks): KeyCheck | undefined {
  return keys.find(({ check }) => check.status === "verified") ?? keys[0];
}

/** Checks all DNS records of a sending domain. It throws nothing and changes nothing. */

import type { Resolver } from "#dns/resolver-interface.ts";
import { checkKeyRecord } from "#identity/dkims/check-record.ts";
import type { CheckedDkimKey } from "#identity/dkims/store.ts";
import { checkAlias } from "#identity/dns-checks/check-alias.ts";
import type { DnsCheck } from "#identity/dns-checks/dns-check.ts";
import { customReturnPathHost } from "#identity/return-path-host.ts";
import type { CheckedDomain } from "#identity/sending-domains/store.ts";
import { checkDomainDmarc, reportAddress } from "./check-dmarc.ts";
import { checkOwnership } from "./check-ownership.ts";
import { checkDomainSpf, type SpfDnsCheck } from "./check-spf.ts";

/** The names of this installation in the records. */
export interface PlatformDomains {
  readonly BOUNCE_DOMAIN: string;
  readonly PLATFORM_SPF_DOMAIN: string;
  /** The machine's name if it is used because MAIL_HOSTNAME is not set, and is not in public DNS; otherwise null. */
  readonly PRIVATE_NAME?: string | null;
}

export interface KeyCheck {
  readonly key: CheckedDkimKey;
  readonly check: DnsCheck;
}

export interface DomainChecks {
  readonly ownership: DnsCheck;
  readonly spf: SpfDnsCheck;
  readonly dmarc: DnsCheck;
  /** All keys of the domain, the signing key first. */
  readonly keys: readonly KeyCheck[];
  /** Null when switched off, as is the next. */
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
  const warned = withPrivateName(platform);
  return {
    ownership,
    spf: warned(spf, platform.PLATFORM_SPF_DOMAIN),
    dmarc,
    keys: keyChecks,
    return_path: returnPath && warned(returnPath, platform.BOUNCE_DOMAIN),
    dmarc_reports: reports && warned(reports, platform.BOUNCE_DOMAIN),
  };
}

/** The domain's own return path has to be a CNAME of `bounceDomain`: its MX and its SPF are then ours. */
function checkReturnPath(resolver: Resolver, domain: string, bounceDomain: string): Promise<DnsCheck> {
  return checkAlias(resolver, customReturnPathHost(domain), bounceDomain.toLowerCase());
}

/** Adds a warning to a check whose record would name a host that is not in public DNS. */
export function withPrivateName({ PRIVATE_NAME = null }: PlatformDomains) {
  return <Check extends DnsCheck>(check: Check, name: string): Check => {
    const isPrivate = PRIVATE_NAME !== null && (name === PRIVATE_NAME || name.endsWith(`.${PRIVATE_NAME}`));
    if (!isPrivate) return check;
    const warning = `MAIL_HOSTNAME is not set, so ${name} is not a public name: set it before you publish this record.`;
    return { ...check, message: `${check.message} ${warning}`.trim() };
  };
}

/**
 * The key that the domain's DKIM status is about: the first published one in signing order, or else the signing key.
 */
export function decisiveKey({ keys }: DomainChecks): KeyCheck | undefined {
  return keys.find(({ check }) => check.status === "verified") ?? keys[0];
}

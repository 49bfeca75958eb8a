/** Looks up every DNS record of a sending domain now, and changes no flag. */
import type { Resolver } from "#dns/resolver-interface.ts";
import { listDkimKeysOfDomain } from "#identity/dkims/store.ts";
import { checkAlias } from "#identity/dns-checks/check-alias.ts";
import type { CheckedDomain } from "#identity/sending-domains/store.ts";
import { listTrackingDomains } from "#identity/tracking-domains/store.ts";
import type { Queryable } from "#platform/database/pool.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import { checkDns, type PlatformDomains } from "./check-dns.ts";
import { type DnsStatus, dnsStatusOf } from "./dns-status.ts";

export interface DnsLookUpDeps {
  readonly db: Queryable;
  /** TRACKING_HOST is the host that tracking domains must point to. */
  readonly config: PlatformDomains & { readonly TRACKING_HOST: string };
  /** Resolves through the domain's own name servers first. */
  readonly resolverFor: (domain: string) => Resolver;
}

export async function lookUpDnsStatus(
  { db, resolverFor, config }: DnsLookUpDeps,
  workspaceId: WorkspaceId,
  domain: CheckedDomain,
): Promise<DnsStatus> {
  const resolver = resolverFor(domain.domain);
  const [keys, hosts] = await Promise.all([
    listDkimKeysOfDomain(db, workspaceId, domain.domain),
    listTrackingDomains(db, workspaceId),
  ]);
  const host = hosts.find((one) => one.domain.endsWith(`.${domain.domain}`))?.domain;
  const [checks, tracking] = await Promise.all([
    checkDns(resolver, domain, keys, config),
    host === undefined ? null : checkAlias(resolver, host, config.TRACKING_HOST),
  ]);
  return dnsStatusOf(domain, checks, config, tracking);
}

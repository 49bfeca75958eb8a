/** Looks up every DNS record of a sending domain now, and changes no flag. */
import type { Resolver } from "#dns/resolver-interface.ts";
import { listDkimKeysOfDomain } from "#identity/dkims/store.ts";
import { checkAlias } from "#identity/dns-checks/check-alias.ts";
import { findDnsProvider } from "#identity/dns-checks/dns-provider.ts";
import type { CheckedDomain } from "#identity/sending-domains/store.ts";
import { listTrackingDomains } from "#identity/tracking-domains/store.ts";
import type { Queryable } from "#platform/database/pool.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import { checkDns, type PlatformDomains, withPrivateName } from "./check-dns.ts";
import { checkReceiving, receivingHosts } from "./check-receiving.ts";
import { type DnsStatus, dnsStatusOf } from "./dns-status.ts";

export interface DnsLookUpDeps {
  readonly db: Queryable;
  /** TRACKING_HOST is the host that tracking domains must point to. */
  readonly config: PlatformDomains & { readonly TRACKING_HOST: string; readonly MAIL_HOSTNAME: string };
  /** Resolves through the domain's own name servers first. */
  readonly resolverFor: (domain: string) => Resolver;
  /** The names, the domain and below it, at which the workspace receives mail. */
  readonly receivingDomains: (db: Queryable, workspaceId: WorkspaceId, domain: string) => Promise<string[]>;
}

export async function lookUpDnsStatus(
  { db, resolverFor, config, receivingDomains }: DnsLookUpDeps,
  workspaceId: WorkspaceId,
  domain: CheckedDomain,
): Promise<DnsStatus> {
  const resolver = resolverFor(domain.domain);
  const [keys, hosts, received] = await Promise.all([
    listDkimKeysOfDomain(db, workspaceId, domain.domain),
    listTrackingDomains(db, workspaceId),
    receivingDomains(db, workspaceId, domain.domain),
  ]);
  const host = hosts.find((one) => one.domain.endsWith(`.${domain.domain}`))?.domain;
  const ours = received.length === 0 ? null : await receivingHosts(resolverFor(config.BOUNCE_DOMAIN), config);
  const [checks, tracking, mx, provider] = await Promise.all([
    checkDns(resolver, domain, keys, config),
    host === undefined ? null : checkAlias(resolver, host, config.TRACKING_HOST),
    ours === null ? [] : Promise.all(received.map((name) => checkReceiving(resolver, name, ours))),
    findDnsProvider(resolver, domain.domain),
  ]);
  const warned = withPrivateName(config);
  const receiving = mx.map((check) => warned(check, ours?.names[0] ?? ""));
  return dnsStatusOf(domain, checks, config, { tracking, receiving, provider });
}

/**
 * Checks a tracking domain's DNS record and certificate, on request and daily. Links use a domain only while both are
 * right; otherwise they use the service's own host, which always works. So one failed check is enough to stop using a
 * domain. A failed DNS look-up changes nothing.
 *
 * The record proves that a name points to this service, but not for which workspace. The name belongs to the workspace
 * that proved ownership of a domain above it, otherwise to the first that verified it.
 */

import type { Resolver } from "#dns/resolver-interface.ts";
import { checkAlias } from "#identity/dns-checks/check-alias.ts";
import { recheckDaily } from "#identity/dns-checks/daily-recheck.ts";
import type { DnsCheck } from "#identity/dns-checks/dns-check.ts";
import type { RecheckLease } from "#identity/dns-checks/recheck-store.ts";
import { stateAfterRequest } from "#identity/dns-checks/state-after-check.ts";
import { findClaimOver } from "#identity/sending-domains/store.ts";
import type { Clock } from "#platform/clock.ts";
import type { Database, Queryable } from "#platform/database/pool.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import type { FindCertificateFault } from "./check-certificate.ts";
import {
  isVerifiedElsewhere,
  leaseDueTrackingDomains,
  lockTrackingName,
  type TrackingDomainRow,
  unverifyElsewhere,
  updateTrackingVerified,
} from "./store.ts";
import { isUsableForLinks } from "./tracking-base-url.ts";

export interface VerifyDeps {
  readonly db: Database;
  readonly clock: Clock;
  /** The host that tracking domains must point to. */
  readonly target: string;
  /** Resolves through the domain's own name servers first. */
  readonly resolverFor: (domain: string) => Resolver;
  readonly findCertificateFault: FindCertificateFault;
}

export interface TrackingVerification {
  readonly check: DnsCheck;
  /** Why another workspace has the name; null when none has. */
  readonly obstacle: string | null;
  /** Undefined when it was deleted or renamed during the DNS look-up. */
  readonly domain: TrackingDomainRow | undefined;
}

export async function verifyTrackingDomain(
  { db, clock, target, resolverFor, findCertificateFault }: VerifyDeps,
  workspaceId: WorkspaceId,
  before: TrackingDomainRow,
): Promise<TrackingVerification> {
  const { domain: name } = before;
  const check = await checkAlias(resolverFor(name), name, target);
  const now = clock.now();
  const { verified } = stateAfterRequest({ verified: before.is_verified, failures: null }, check.status, now);
  const httpsFault = verified ? await findCertificateFault(name) : null;
  return db.transaction(async (tx) => {
    await lockTrackingName(tx, name);
    const obstacle = await obstacleTo(tx, workspaceId, name);
    const isVerified = verified && obstacle === null;
    if (isVerified) await unverifyElsewhere(tx, workspaceId, name);
    return {
      check,
      obstacle,
      domain: await updateTrackingVerified(tx, workspaceId, before, { isVerified, httpsFault, now }),
    };
  });
}

async function obstacleTo(tx: Queryable, workspaceId: WorkspaceId, name: string): Promise<string | null> {
  const claim = await findClaimOver(tx, name);
  if (claim?.workspace_id === workspaceId) return null;
  if (claim !== undefined) return `Another workspace has proved ownership of ${claim.domain}`;
  if (!(await isVerifiedElsewhere(tx, workspaceId, name))) return null;
  return `Another workspace uses ${name}: verify a sending domain above it to prove that it is yours`;
}

/**
 * A tracking domain that links no longer use: its record is gone or points elsewhere, another workspace has proved the
 * domain above it, or HTTPS fails there.
 */
export interface TrackingDomainLoss {
  readonly workspaceId: WorkspaceId;
  readonly domainId: string;
  readonly domain: string;
  /** Null when HTTPS is not the reason. */
  readonly httpsFault: string | null;
}

export interface RecheckTrackingDeps extends VerifyDeps {
  readonly onLoss: (loss: TrackingDomainLoss) => void;
}

/**
 * Checks all tracking domains whose last check is 24 hours old, until none is left or `signal` aborts.
 * @returns how many were checked
 */
export function recheckTrackingDomains(deps: RecheckTrackingDeps, signal: AbortSignal): Promise<number> {
  const lease = (due: RecheckLease) => leaseDueTrackingDomains(deps.db, due);
  const check = async ({
    workspace_id: workspaceId,
    ...before
  }: Awaited<ReturnType<typeof lease>>[number]) => {
    const { domain: after } = await verifyTrackingDomain(deps, workspaceId, before);
    if (after === undefined || !isUsableForLinks(before) || isUsableForLinks(after)) return;
    const { id: domainId, domain, https_fault: httpsFault } = after;
    deps.onLoss({ workspaceId, domainId, domain, httpsFault });
  };
  return recheckDaily({ clock: deps.clock, lease, check }, signal);
}

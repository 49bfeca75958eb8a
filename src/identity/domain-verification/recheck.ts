/**
 * The re-check of every sending domain, once in 24 hours. A flag is set as soon as its check succeeds and is cleared
 * only when failures persist (state-after-check.ts).
 */

import type { Resolver } from "#dns/resolver-interface.ts";
import { listDkimKeysOfDomain } from "#identity/dkims/store.ts";
import { recheckDaily } from "#identity/dns-checks/daily-recheck.ts";
import type { RecheckLease } from "#identity/dns-checks/recheck-store.ts";
import { stateAfterRecheck } from "#identity/dns-checks/state-after-check.ts";
import { leaseDueDomains } from "#identity/sending-domains/store.ts";
import type { Clock } from "#platform/clock.ts";
import type { Database, Queryable } from "#platform/database/pool.ts";
import { ApiError } from "#platform/errors.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import { checkDns, type PlatformDomains } from "./check-dns.ts";
import { recordChecks } from "./record-results.ts";
import { changeOf, type Flag, type OnVerification } from "./verification-change.ts";

/** Flags of a domain that were cleared because its records stayed wrong. */
export interface VerificationLoss {
  readonly workspaceId: WorkspaceId;
  readonly domainId: string;
  readonly domain: string;
  readonly lost: readonly Flag[];
}

export interface RecheckDeps {
  readonly db: Database;
  readonly clock: Clock;
  readonly config: PlatformDomains;
  readonly resolverFor: (domain: string) => Resolver;
  /** Called in the transaction that clears the flags. */
  readonly onLoss: (tx: Queryable, loss: VerificationLoss) => Promise<void>;
  readonly onVerification: OnVerification;
}

/**
 * Checks all sending domains that are due, until none is left or `signal` aborts.
 * @returns how many were checked
 */
export function recheckDomains(deps: RecheckDeps, signal: AbortSignal): Promise<number> {
  const lease = (due: RecheckLease) => leaseDueDomains(deps.db, due);
  return recheckDaily({ clock: deps.clock, lease, check: (domain) => recheck(deps, domain) }, signal);
}

type DueDomain = Awaited<ReturnType<typeof leaseDueDomains>>[number];

async function recheck(
  deps: RecheckDeps,
  { workspace_id: workspaceId, ...domain }: DueDomain,
): Promise<void> {
  const { db } = deps;
  const keys = await listDkimKeysOfDomain(db, workspaceId, domain.domain);
  const checks = await checkDns(deps.resolverFor(domain.domain), domain, keys, deps.config);
  const now = deps.clock.now();
  try {
    await db.transaction(async (tx) => {
      const recorded = await recordChecks(tx, workspaceId, domain.domain, checks, stateAfterRecheck, now);
      if (recorded === undefined) return;
      const change = changeOf(workspaceId, recorded, now);
      await deps.onVerification(tx, change);
      const { lost } = change;
      if (lost.length === 0) return;
      await deps.onLoss(tx, { workspaceId, domainId: domain.id, domain: domain.domain, lost });
    });
  } catch (fault) {
    // Another workspace has claimed the domain: nothing has changed, and there is no caller to report an error to.
    if (!(fault instanceof ApiError)) throw fault;
  }
}

/**
 * The automatic re-check of every sending domain, once in 24 hours. It may run on several machines at once: each
 * takes batches that the others pass by. Flags rise at once and fall only when failures persist (verification-status.ts).
 */

import type { Resolver } from "#dns/resolver.ts";
import { listDkimKeysOfDomain } from "#identity/dkims/store.ts";
import { judgeOnSchedule } from "#identity/dns-checks/verification-status.ts";
import { leaseDueDomains } from "#identity/sending-domains/store.ts";
import type { Clock } from "#platform/clock.ts";
import type { Database, Queryable } from "#platform/database/pool.ts";
import { ApiError } from "#platform/errors.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import { checkDns, type PlatformDomains } from "./check-dns.ts";
import { settleChecks } from "./record-results.ts";
import { changeOf, type Flag, type OnVerification } from "./verification-events.ts";

const RECHECK_EVERY_MS = 24 * 60 * 60 * 1000;
/** Domains that are asked about at the same time. */
const BATCH = 20;

/** Flags of a domain that fell because its records stayed away. */
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
  /** Told in the transaction that lets the flags fall. */
  readonly onLoss: (tx: Queryable, loss: VerificationLoss) => Promise<void>;
  readonly onVerification: OnVerification;
}

/** Checks all domains that are due, in batches, until none is left or `signal` says stop; returns how many. */
export async function recheckDomains(deps: RecheckDeps, signal: AbortSignal): Promise<number> {
  let checked = 0;
  while (!signal.aborted) {
    const now = deps.clock.now();
    const dueBefore = new Date(now.getTime() - RECHECK_EVERY_MS);
    const due = await leaseDueDomains(deps.db, { now, dueBefore, most: BATCH });
    await Promise.all(due.map((domain) => recheck(deps, domain)));
    checked += due.length;
    if (due.length < BATCH) break;
  }
  return checked;
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
      const settled = await settleChecks(tx, workspaceId, domain.domain, checks, judgeOnSchedule, now);
      if (settled === undefined) return;
      const change = changeOf(workspaceId, settled, now);
      await deps.onVerification(tx, change);
      const { lost } = change;
      if (lost.length === 0) return;
      await deps.onLoss(tx, { workspaceId, domainId: domain.id, domain: domain.domain, lost });
    });
  } catch (fault) {
    // Another workspace holds the domain: there is nobody to tell, and nothing has changed.
    if (!(fault instanceof ApiError)) throw fault;
  }
}

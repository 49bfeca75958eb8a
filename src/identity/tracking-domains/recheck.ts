/**
 * The automatic re-check of every tracking domain, once in 24 hours. It may run on several machines at once: each takes
 * batches that the others pass by.
 */
import type { WorkspaceId } from "#platform/ids.ts";
import { leaseDueTrackingDomains } from "./store.ts";
import { isUsable } from "./tracking-base.ts";
import { type VerifyDeps, verifyTrackingDomain } from "./verify.ts";

const RECHECK_EVERY_MS = 24 * 60 * 60 * 1000;
/** Domains that are asked about at the same time. */
const BATCH = 20;

/**
 * A domain that links do not begin with any more: its record is gone or leads elsewhere, or it has become another
 * workspace's; or HTTPS has a fault there.
 */
export interface TrackingDomainLoss {
  readonly workspaceId: WorkspaceId;
  readonly domainId: string;
  readonly domain: string;
  readonly httpsFault: string | null;
}

export interface RecheckTrackingDeps extends VerifyDeps {
  readonly onLoss: (loss: TrackingDomainLoss) => void;
}

/** Checks all domains that are due, in batches, until none is left or `signal` says stop; returns how many. */
export async function recheckTrackingDomains(
  deps: RecheckTrackingDeps,
  signal: AbortSignal,
): Promise<number> {
  let checked = 0;
  while (!signal.aborted) {
    const now = deps.clock.now();
    const dueBefore = new Date(now.getTime() - RECHECK_EVERY_MS);
    const due = await leaseDueTrackingDomains(deps.db, { now, dueBefore, most: BATCH });
    await Promise.all(
      due.map(async ({ workspace_id: workspaceId, ...before }) => {
        const { domain: after } = await verifyTrackingDomain(deps, workspaceId, before);
        if (after === undefined || !isUsable(before) || isUsable(after)) return;
        const { id: domainId, domain, https_fault: httpsFault } = after;
        deps.onLoss({ workspaceId, domainId, domain, httpsFault });
      }),
    );
    checked += due.length;
    if (due.length < BATCH) break;
  }
  return checked;
}

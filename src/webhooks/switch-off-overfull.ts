/**
 * A receiver that takes less than happens: its deliveries would pile up for as long as they are kept. Beyond a bound it is
 * switched off. Looked at from time to time and not where events are written, which waits for nobody's receivers.
 */
import type { Clock } from "#platform/clock.ts";
import type { Database } from "#platform/database/pool.ts";
import type { Recurring } from "#platform/jobs/schedule.ts";
import { listOverfull, type OverfullBounds } from "./delivery-store.ts";
import { switchOff } from "./store.ts";

const HOUR_MS = 3_600_000;
/** A large campaign may fill a receiver that works, for some hours; nothing may fill one without end. */
const BOUNDS: OverfullBounds = { most: 1_000_000, mostOverdue: 100_000, overdueMs: 6 * HOUR_MS };
/**
 * Switched on again, or moved to another URL, a receiver has time to work off what waits; and so it has after a suspension,
 * and when this process has begun: it may have been the only one, and away for long.
 */
const GRACE_MS = HOUR_MS;

interface Dependencies {
  readonly db: Database;
  readonly clock: Clock;
}

export function switchOffOverfullWebhooks(deps: Dependencies): Recurring {
  const begun = deps.clock.now();
  return { name: "switch-off-overfull-webhooks", seconds: 60, run: () => switchOffOverfull(deps, begun) };
}

export async function switchOffOverfull(
  { db, clock }: Dependencies,
  begun: Date,
  bounds: OverfullBounds = BOUNDS,
): Promise<void> {
  const now = clock.now();
  const hasGrace = now.getTime() - begun.getTime() < GRACE_MS;
  const unchangedSince = hasGrace ? new Date(0) : new Date(now.getTime() - GRACE_MS);
  for (const { workspace_id: workspaceId, id, is_far_over } of await listOverfull(
    db,
    bounds,
    now,
    unchangedSince,
  )) {
    const waiting = is_far_over
      ? `more than ${bounds.most} deliveries wait`
      : `more than ${bounds.mostOverdue} deliveries wait, the oldest for more than ${bounds.overdueMs / HOUR_MS} hours`;
    await switchOff(db, workspaceId, id, `events come faster than they are taken: ${waiting}`, now);
  }
}

/** Recurring jobs: switch off webhooks with too many pending deliveries, and remove old deliveries. */
import { skipWhileHeld } from "#delivery/hold/skip-while-held.ts";
import { findHold } from "#delivery/hold/store.ts";
import type { Clock } from "#platform/clock.ts";
import type { Database } from "#platform/database/pool.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import { removeInBatches } from "#platform/jobs/remove-in-batches.ts";
import type { Recurring } from "#platform/jobs/schedule.ts";
import { DAY_MS, HOUR_MS, HOUR_SECONDS } from "#platform/time-units.ts";
import { listDeletedWebhooks, removeDeletedWebhook, switchOff } from "#webhooks/store.ts";
import { removeExpiredLeases } from "./lease-store.ts";
import { listOverfull, type OverfullBounds, removeDeliveriesOf, removeOldDeliveries } from "./store.ts";
import { listWaitingWorkspaces, queueRequestedTurns } from "./turns-store.ts";

/** A large campaign may fill the queue of a working receiver for some hours; no receiver may let it grow without end. */
const BOUNDS: OverfullBounds = { most: 1_000_000, mostOverdue: 100_000, overdueMs: 6 * HOUR_MS };
/**
 * The time to work off the queue before `mostOverdue` applies: after a webhook was switched on or moved to another URL,
 * after the end of a suspension or of a hold of sending, and after the start of this process, which may have been down for
 * long.
 */
const GRACE_MS = HOUR_MS;
/** Workspaces whose webhooks one run looks at, besides those with overdue deliveries; the next run goes on behind them. */
const MOST_LOOKED_AT = 500;
/** Requests for turns that one run puts into the line, where it looks for workspaces. */
const MOST_REQUESTS = 5_000;
/** Applies to pending deliveries of inactive webhooks, too. */
export const KEPT_DAYS = 14;
/** Deleted webhooks whose deliveries are removed in one run. */
const MOST_DELETED = 1_000;

interface JobDeps {
  readonly db: Database;
  readonly clock: Clock;
}

/**
 * The task that runs every minute. It looks at webhooks with overdue deliveries in each run, and at the others by turns, so
 * that a run costs about the same however many webhooks have deliveries that wait. It does nothing while sending is held:
 * deliveries wait then, also those to quick receivers.
 */
export class SwitchOffOverfullWebhooks implements Recurring {
  readonly name = "switch-off-overfull-webhooks";
  readonly seconds = 60;
  readonly #deps: JobDeps;
  readonly #bounds: OverfullBounds;
  readonly #mostLookedAt: number;
  /** When this process started, or last saw that sending was held. */
  #deliveringSince: Date;
  /** The last workspace of the run before; null: the next run begins with the first one. */
  #after: WorkspaceId | null = null;

  constructor(deps: JobDeps, bounds = BOUNDS, mostLookedAt = MOST_LOOKED_AT) {
    this.#deps = deps;
    this.#bounds = bounds;
    this.#mostLookedAt = mostLookedAt;
    this.#deliveringSince = deps.clock.now();
  }

  async run(): Promise<void> {
    const { db, clock } = this.#deps;
    if ((await findHold(db)) !== undefined) this.#deliveringSince = clock.now();
    else {
      await queueRequestedTurns(db, clock.now(), MOST_REQUESTS);
      const next = await listWaitingWorkspaces(db, this.#after, this.#mostLookedAt);
      this.#after = next.length < this.#mostLookedAt ? null : (next.at(-1) ?? null);
      await switchOffOverfull(this.#deps, next, this.#deliveringSince, this.#bounds);
    }
  }
}

/**
 * Switches off webhooks of these workspaces, and of those with overdue deliveries, that have more pending deliveries than the
 * bounds allow, because their receivers accept deliveries more slowly than events happen. This is not checked where events
 * are written, so that a slow receiver delays no transaction.
 */
async function switchOffOverfull(
  { db, clock }: JobDeps,
  workspaceIds: readonly WorkspaceId[],
  deliveringSince: Date,
  bounds: OverfullBounds,
): Promise<void> {
  const now = clock.now();
  const hasGrace = now.getTime() - deliveringSince.getTime() < GRACE_MS;
  const unchangedSince = hasGrace ? new Date(0) : new Date(now.getTime() - GRACE_MS);
  const overfull = await listOverfull(db, workspaceIds, bounds, now, unchangedSince);
  for (const { workspace_id: workspaceId, id, is_far_over } of overfull) {
    const pending = is_far_over
      ? `more than ${bounds.most} deliveries are pending`
      : `more than ${bounds.mostOverdue} deliveries are pending, the oldest for more than ${bounds.overdueMs / HOUR_MS} hours`;
    await switchOff(
      db,
      workspaceId,
      id,
      `events arrive faster than the receiver takes them: ${pending}`,
      now,
    );
  }
}

/** Does nothing while sending is held: old deliveries are made after the release. */
export function removeOldWebhookDeliveries(deps: JobDeps): Recurring {
  return skipWhileHeld(deps.db, {
    name: "remove-old-webhook-deliveries",
    seconds: HOUR_SECONDS,
    run: ({ signal }) => removeOld(deps, signal),
  });
}

/** Removes deliveries older than KEPT_DAYS, deleted webhooks with all of their deliveries, and leases that expired an hour ago. */
export async function removeOld({ db, clock }: JobDeps, signal: AbortSignal): Promise<void> {
  const before = new Date(clock.now().getTime() - KEPT_DAYS * DAY_MS);
  await removeExpiredLeases(db, new Date(clock.now().getTime() - HOUR_MS));
  await removeInBatches(signal, (most) => removeOldDeliveries(db, before, most));
  for (const { workspace_id: workspaceId, id } of await listDeletedWebhooks(db, MOST_DELETED)) {
    await removeInBatches(signal, (most) => removeDeliveriesOf(db, workspaceId, id, most));
    if (!signal.aborted) await removeDeletedWebhook(db, workspaceId, id);
  }
}

/** What becomes of deliveries in the end: they are kept for a while, and those of deleted receivers go. */
import type { Clock } from "#platform/clock.ts";
import type { Database } from "#platform/database/pool.ts";
import { removeInBatches } from "#platform/jobs/remove-in-batches.ts";
import type { Recurring } from "#platform/jobs/schedule.ts";
import { removeDeliveriesOf, removeOldDeliveries } from "./delivery-store.ts";
import { listDeletedWebhooks, removeDeletedWebhook } from "./store.ts";

const HOUR_SECONDS = 3_600;
/** Also of what still waits, for a receiver that is switched off. */
export const KEPT_DAYS = 14;
const DAY_MS = 24 * HOUR_SECONDS * 1_000;
/** Deleted receivers in one run. */
const MOST_AT_ONCE = 1_000;

interface Dependencies {
  readonly db: Database;
  readonly clock: Clock;
}

export function removeOldWebhookDeliveries(deps: Dependencies): Recurring {
  return {
    name: "remove-old-webhook-deliveries",
    seconds: HOUR_SECONDS,
    run: ({ signal }) => removeOld(deps, signal),
  };
}

export async function removeOld({ db, clock }: Dependencies, signal: AbortSignal): Promise<void> {
  const before = new Date(clock.now().getTime() - KEPT_DAYS * DAY_MS);
  await removeInBatches(signal, (most) => removeOldDeliveries(db, before, most));
  for (const { workspace_id: workspaceId, id } of await listDeletedWebhooks(db, MOST_AT_ONCE)) {
    await removeInBatches(signal, (most) => removeDeliveriesOf(db, workspaceId, id, most));
    if (!signal.aborted) await removeDeletedWebhook(db, workspaceId, id);
  }
}

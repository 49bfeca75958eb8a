/** Recurring tasks of billing: charge metered usage, renew subscriptions, fail unpaid top-ups, delete old rows. */
import type { Clock } from "#platform/clock.ts";
import type { Database } from "#platform/database/pool.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import { removeInBatches } from "#platform/jobs/remove-in-batches.ts";
import type { Recurring } from "#platform/jobs/schedule.ts";
import type { Log } from "#platform/log/log.ts";
import { HOUR_MS } from "#platform/time-units.ts";
import { settleAccount } from "./meter.ts";
import { listWorkspacesWithEntries, removeOldHours } from "./meter-store.ts";
import { failOldPayments, removeOldEvents } from "./payment-store.ts";
import type { Plans } from "./plans.ts";
import { renewSubscription } from "./subscribe.ts";
import { listDueWorkspaces } from "./subscription-store.ts";

const MOST_AT_ONCE = 1_000;
const HOURS_KEPT = 48;
/** An unpaid top-up fails after this time. */
const HOURS_TO_PAY = 24;
/** Payment gateways repeat an event for some days. */
const EVENT_HOURS_KEPT = 30 * 24;

export function billingTasks({
  db,
  clock,
  plans,
}: {
  db: Database;
  clock: Clock;
  plans: Plans;
}): Recurring[] {
  return [
    {
      name: "read-meters",
      seconds: 2,
      async run({ signal, log }) {
        const used = await listWorkspacesWithEntries(db, MOST_AT_ONCE);
        const charge = (id: WorkspaceId) => db.transaction((tx) => settleAccount(tx, plans, id, clock.now()));
        await forEach(used, charge, signal, log);
      },
    },
    {
      name: "renew-subscriptions",
      seconds: 60,
      async run({ signal, log }) {
        const now = clock.now();
        const due = await listDueWorkspaces(db, now, MOST_AT_ONCE);
        const renew = (id: WorkspaceId) => db.transaction((tx) => renewSubscription(tx, plans, id, now));
        await forEach(due, renew, signal, log);
      },
    },
    {
      name: "forget-metered-hours",
      seconds: 3_600,
      async run({ signal }) {
        const before = hoursAgo(clock, HOURS_KEPT);
        await removeInBatches(signal, (most) => removeOldHours(db, before, most));
      },
    },
    {
      name: "fail-unpaid-top-ups",
      seconds: 600,
      async run() {
        await failOldPayments(db, hoursAgo(clock, HOURS_TO_PAY), MOST_AT_ONCE);
      },
    },
    {
      name: "forget-payment-events",
      seconds: 24 * 3_600,
      async run({ signal }) {
        const before = hoursAgo(clock, EVENT_HOURS_KEPT);
        await removeInBatches(signal, (most) => removeOldEvents(db, before, most));
      },
    },
  ];
}

function hoursAgo(clock: Clock, hours: number): Date {
  return new Date(clock.now().getTime() - hours * HOUR_MS);
}

/** Runs `work` for one workspace after another. The failure of one is logged and does not stop the others. */
async function forEach(
  workspaceIds: readonly WorkspaceId[],
  work: (workspaceId: WorkspaceId) => Promise<unknown>,
  signal: AbortSignal,
  log: Log,
): Promise<void> {
  for (const workspaceId of workspaceIds) {
    if (signal.aborted) return;
    await work(workspaceId).catch((err: unknown) =>
      log.error({ err, workspaceId }, "billing task failed for a workspace"),
    );
  }
}

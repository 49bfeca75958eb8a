/** Recurring tasks of billing: charge metered usage, renew subscriptions, fail unpaid top-ups, delete old rows. */
import type { Clock } from "#platform/clock.ts";
import type { Database } from "#platform/database/pool.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import { removeInBatches } from "#platform/jobs/remove-in-batches.ts";
import type { Recurring } from "#platform/jobs/schedule.ts";
import type { Log } from "#platform/log/log.ts";
import { HOUR_MS } from "#platform/time-units.ts";
import { settleFreeAccounts } from "./meter.ts";
import { listWorkspacesWithEntries, removeOldHours } from "./meter-store.ts";
import { failOldPayments, removeOldEvents } from "./payment-store.ts";
import type { Plans } from "./plans.ts";
import { renewSubscription } from "./subscribe.ts";
import { listDueWorkspaces } from "./subscription-store.ts";

const MOST_AT_ONCE = 1_000;
/** Workspaces that one transaction settles: requests of these workspaces may wait for it. */
const MOST_SETTLED_AT_ONCE = 200;
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
      run: ({ signal, log }) => readMeters(db, plans, clock, { signal, log }),
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

/**
 * Settles all workspaces with usage, in the order of their ids, each piece in a transaction of its own: after a crash the
 * pieces that were committed have no entries left, and the others still have all of theirs.
 */
async function readMeters(
  db: Database,
  plans: Plans,
  clock: Clock,
  { signal, log }: { readonly signal: AbortSignal; readonly log: Log },
): Promise<void> {
  const settle = (ids: readonly WorkspaceId[]) =>
    db.transaction((tx) => settleFreeAccounts(tx, plans, ids, clock.now()));
  let after: WorkspaceId | null = null;
  while (!signal.aborted) {
    const used: WorkspaceId[] = await listWorkspacesWithEntries(db, after, MOST_SETTLED_AT_ONCE);
    if (used.length === 0) return;
    // The fault of one account must not stop the others.
    await settle(used).catch(() => forEach(used, (id) => settle([id]), signal, log));
    if (used.length < MOST_SETTLED_AT_ONCE) return;
    after = used.at(-1) ?? null;
  }
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

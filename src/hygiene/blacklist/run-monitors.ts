/**
 * Runs due monitors, in the role jobs. A due monitor is leased; the result, the charge, the next run and the notice are written
 * in one transaction under the lease number. A killed run costs nothing, and its monitor is due again when the lease expires.
 */

import { createLimiter, type Limiter } from "#platform/concurrency.ts";
import type { Queryable } from "#platform/database/pool.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import { PutBack } from "#platform/jobs/attempt.ts";
import { removeInBatches } from "#platform/jobs/remove-in-batches.ts";
import { hasten, type Recurring } from "#platform/jobs/schedule.ts";
import type { Log } from "#platform/log/log.ts";
import { DAY_SECONDS } from "#platform/time-units.ts";
import type { SendPlatformMail } from "#sending/platform-mail/platform-mail.ts";
import { findWorkspace } from "#workspace/workspaces/store.ts";
import { type CheckDeps, chargeCheck, findCheckRefusal, outcomeOf } from "./charge-and-record-check.ts";
import { insertCheck, removeOldChecks } from "./check-store.ts";
import type { Checked } from "./checker.ts";
import { listingMail } from "./listing-mail.ts";
import {
  leaseDueMonitor,
  lockLeasedMonitor,
  type MonitorLease,
  type MonitorRow,
  updateMonitorRun,
} from "./monitor-store.ts";
import { hasChanged, type ListedZones, nextListedZones } from "./next-listed-zones.ts";
import type { BlacklistTarget } from "./target.ts";

const NAME = "run-blacklist-monitors";
const SECONDS = 15;
/** Runs at a time; each queries at most 20 zones at a time (checker.ts). */
const AT_ONCE = 10;
/** How long the task may keep its slot before other recurring tasks get it. */
const SLOT_MS = 20_000;
/** Well above the six seconds that a check takes at most. */
const LEASE_MS = 60_000;
const HISTORY_DAYS = 400;

/** The zones that list a monitored target have changed. */
export interface ListingChange extends ListedZones, BlacklistTarget {
  readonly workspaceId: WorkspaceId;
  readonly monitorId: string;
  readonly checkedAt: Date;
}

export interface MonitorDeps extends CheckDeps {
  readonly sendPlatformMail: SendPlatformMail;
  /** Called with every change, in the transaction that stores it, also when no notice is sent. */
  readonly onListingChanged: (tx: Queryable, change: ListingChange) => Promise<void>;
}

/** Makes the task due now, or at the commit of the transaction. */
export function runMonitorsNow(db: Queryable): Promise<void> {
  return hasten(db, NAME);
}

/** The recurring tasks of monitors and their history. */
export function blacklistTasks(deps: MonitorDeps): Recurring[] {
  return [
    {
      name: NAME,
      seconds: SECONDS,
      async run({ signal, log }) {
        await runDueMonitors(deps, signal, log);
      },
    },
    {
      name: "remove-old-blacklist-checks",
      seconds: DAY_SECONDS,
      async run({ signal }) {
        const before = new Date(deps.clock.now().getTime() - HISTORY_DAYS * DAY_SECONDS * 1_000);
        await removeInBatches(signal, (most) => removeOldChecks(deps.db, before, most));
      },
    },
  ];
}

/**
 * Runs monitors until none is due, on any number of machines. @returns how many were run
 * @throws PutBack after `slotMs`, when more may be due
 */
export async function runDueMonitors(
  deps: MonitorDeps,
  signal: AbortSignal,
  log: Log,
  slotMs = SLOT_MS,
): Promise<number> {
  const slotEnd = performance.now() + slotMs;
  let count = 0;
  // One transaction at a time: runs of one workspace would wait for its account anyway, each with a connection of the pool.
  const inTurn = createLimiter(1);
  const runOneByOne = async () => {
    while (!signal.aborted) {
      if (count > 0 && performance.now() > slotEnd) throw new PutBack();
      const now = deps.clock.now();
      const lease = await leaseDueMonitor(deps.db, now, new Date(now.getTime() + LEASE_MS));
      if (lease === undefined) return;
      await run(deps, lease, inTurn, log).catch((err: unknown) =>
        log.error({ err, monitor: lease.id }, "blacklist monitor failed"),
      );
      count++;
    }
  };
  const ends = await Promise.allSettled(Array.from({ length: AT_ONCE }, runOneByOne));
  for (const end of ends) if (end.status === "rejected") throw end.reason;
  return count;
}

async function run(deps: MonitorDeps, lease: MonitorLease, inTurn: Limiter, log: Log): Promise<void> {
  const { target, target_type } = lease;
  const isPaidFor = (await findCheckRefusal(deps, lease.workspace_id)) === null;
  const checked = isPaidFor ? await deps.checker.check({ target, target_type }) : undefined;
  const unnoticed = await inTurn(() =>
    deps.db.transaction((tx) => record(deps, tx, lease, checked), { mayRepeat: true }),
  );
  if (unnoticed)
    log.info(
      unnoticed,
      "blacklist notice not sent: the workspace has no notify_email, or reached its daily limit of notices",
    );
}

const notRun = { status: "skipped", listed_count: 0, total_checked: 0, cost: 0, result: {} } as const;

/** @returns a change whose notice could not be sent */
async function record(
  deps: MonitorDeps,
  tx: Queryable,
  lease: MonitorLease,
  checked: Checked | undefined,
): Promise<ListingChange | undefined> {
  const monitor = await lockLeasedMonitor(tx, lease);
  if (monitor === undefined) return undefined;
  const { workspace_id: workspaceId, id: monitorId, target, target_type } = lease;
  const now = deps.clock.now();
  const found = checked && outcomeOf(checked);
  const isPaidFor =
    found !== undefined && (await chargeCheck(tx, deps, workspaceId, found.cost, now)) === null;
  const outcome = isPaidFor ? found : notRun;
  await insertCheck(tx, workspaceId, {
    ...outcome,
    target,
    target_type,
    check_type: "scheduled",
    monitor_id: monitorId,
    created_at: now,
  });
  if (checked === undefined || outcome.status === "skipped" || outcome.status === "error") {
    const last_error =
      outcome.status === "error"
        ? "No zone answered"
        : "Skipped: neither allowance nor balance covered this run";
    await updateMonitorRun(tx, lease, { ...monitor, last_error }, now);
    return undefined;
  }
  const listing = nextListedZones(monitor.last_listed_zones, deps.checker.zonesFor(lease), checked.results);
  const state = { last_checked_at: now, last_listed_zones: listing.after, last_error: null };
  await updateMonitorRun(tx, lease, state, now);
  if (!hasChanged(listing)) return undefined;
  const change = { ...listing, target, target_type, workspaceId, monitorId, checkedAt: now };
  await deps.onListingChanged(tx, change);
  return (await notify(deps, tx, monitor, change, checked)) ? undefined : change;
}

/** @returns false when the notice could not be sent: no address, or the daily limit is reached */
async function notify(
  { sendPlatformMail }: MonitorDeps,
  tx: Queryable,
  monitor: MonitorRow,
  { workspaceId, target, before, after }: ListingChange,
  { results }: Checked,
): Promise<boolean> {
  if (!monitor.notify) return true;
  const workspace = await findWorkspace(tx, workspaceId);
  if (!workspace?.notify_email) return false;
  const { notify_email, name } = workspace;
  const reached = await sendPlatformMail(tx, workspaceId, {
    kind: "listing_notice",
    to: notify_email,
    named: { text: name, otherwise: "Your workspace" },
    write: (shown) => listingMail(shown, target, { before, after }, results),
  });
  return reached === null;
}

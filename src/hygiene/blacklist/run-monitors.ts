/**
 * What checks watched targets by itself, in the role jobs. A monitor that is due is leased; what a run found, what it
 * cost, the next run and the notice are one transaction, which only the holder of the lease can make. A run that was
 * killed costs nothing, and its monitor is due again when the lease ends.
 */

import { createLimiter, type Limiter } from "#platform/concurrency.ts";
import type { Queryable } from "#platform/database/pool.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import { PutBack } from "#platform/jobs/attempt.ts";
import { removeInBatches } from "#platform/jobs/remove-in-batches.ts";
import { hasten, type Recurring } from "#platform/jobs/schedule.ts";
import type { Log } from "#platform/log/log.ts";
import type { SendPlatformMail } from "#sending/platform-mail/platform-mail.ts";
import { findWorkspace } from "#workspace/workspaces/store.ts";
import { insertCheck, removeOldChecks } from "./check-store.ts";
import type { Checked } from "./checker.ts";
import { hasChanged, type ListedZones, nextListedZones } from "./listed-zones.ts";
import { listingMail } from "./listing-mail.ts";
import {
  leaseDueMonitor,
  lockLeasedMonitor,
  type MonitorLease,
  type MonitorRow,
  updateMonitorRun,
} from "./monitor-store.ts";
import { type CheckDeps, chargeCheck, findCheckRefusal, outcomeOf } from "./record-check.ts";
import type { BlacklistTarget } from "./target.ts";

const NAME = "run-blacklist-monitors";
const SECONDS = 15;
/** Each asks at most 20 zones at the same time (checker.ts). */
const AT_ONCE = 10;
/** Before others that recur have its place. */
const PLACE_MS = 20_000;
/** Well above the six seconds that a check takes at most. */
const LEASE_MS = 60_000;
const DAY_SECONDS = 86_400;
const HISTORY_DAYS = 400;

/** The zones that list a watched target are others than before. */
export interface ListingChange extends ListedZones, BlacklistTarget {
  readonly workspaceId: WorkspaceId;
  readonly monitorId: string;
  readonly checkedAt: Date;
}

export interface MonitorDeps extends CheckDeps {
  readonly sendPlatformMail: SendPlatformMail;
  /** Hears of every change, in the transaction that stores it; also where nobody is to be mailed. */
  readonly onListingChanged: (tx: Queryable, change: ListingChange) => Promise<void>;
}

/** Makes the task due now; within a transaction, when that commits. */
export function runMonitorsNow(db: Queryable): Promise<void> {
  return hasten(db, NAME);
}

/** The recurring tasks of this noun. */
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
 * Until none is due; says how many were run. Several machines may do so at once.
 * @throws PutBack after `placeMs`, when more may be due
 */
export async function runDueMonitors(
  deps: MonitorDeps,
  signal: AbortSignal,
  log: Log,
  placeMs = PLACE_MS,
): Promise<number> {
  const placeEnd = performance.now() + placeMs;
  let count = 0;
  // Runs of one workspace would wait for its account anyway, and each with a connection that the API shares.
  const inTurn = createLimiter(1);
  const runOneByOne = async () => {
    while (!signal.aborted) {
      if (count > 0 && performance.now() > placeEnd) throw new PutBack();
      const now = deps.clock.now();
      const lease = await leaseDueMonitor(deps.db, now, new Date(now.getTime() + LEASE_MS));
      if (lease === undefined) return;
      await run(deps, lease, inTurn, log).catch((err: unknown) =>
        log.error({ err, monitor: lease.id }, "a blacklist monitor could not be run"),
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
  const silent = await inTurn(() =>
    deps.db.transaction((tx) => record(deps, tx, lease, checked), { mayRepeat: true }),
  );
  if (silent)
    log.info(
      silent,
      "a listing in blacklists changed and no mail says so: the workspace has no notify_email, or got too many today",
    );
}

const notRun = { status: "skipped", listed_count: 0, total_checked: 0, cost: 0, result: {} } as const;

/** @returns a change that somebody should have been mailed about */
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
        : "Neither allowance nor balance covered this run: it was skipped";
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

/** @returns false when no mail is sent: there is no address, or too many mails were sent today */
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

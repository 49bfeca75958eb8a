/**
 * The recurring task that advances autoresponders, in the role jobs: it starts a run for each person who joined the list or
 * whose date is today, and sends the steps that are due. One task serves the whole installation, in bounded transactions
 * under the autoresponder's row lock. It may be killed at any point, and the next run in any process continues: there is one
 * row for each run and each mail, so nothing happens twice.
 */

import { notifyWorkers } from "#delivery/queue/notify-workers.ts";
import { expiryOf } from "#delivery/queue/retry-schedule.ts";
import type { Clock } from "#platform/clock.ts";
import type { Database, Queryable } from "#platform/database/pool.ts";
import { newId, type WorkspaceId } from "#platform/ids.ts";
import { PutBack } from "#platform/jobs/attempt.ts";
import { hasten, type Recurring } from "#platform/jobs/schedule.ts";
import type { Log } from "#platform/log/log.ts";
import { coveredByAllowance } from "#sending/acceptance/take-allowance.ts";
import type { OnLimit } from "#workspace/billing/log-reached-limits.ts";
import type { Plans } from "#workspace/billing/plans.ts";
import {
  advanceScans,
  type DueAutoresponder,
  findDueStep,
  insertRunsOfDay,
  insertRunsOfJoined,
  type LockedAutoresponder,
  listDueAutoresponders,
  lockActive,
  type RunPage,
  skipRemovedStep,
  updateDayDone,
  updateScanned,
  updateWaitingReason,
} from "./runs-store.ts";
import { insertStepMails } from "./send-step-store.ts";
import { dueDays, momentOf } from "./trigger-days.ts";

const NAME = "advance-autoresponders";
const SECONDS = 5;
/** After this time the task yields its slot to other recurring tasks. */
const SLOT_MS = 20_000;
/** People or mails per transaction. A deactivation may have to wait for one. */
const STEP = 1_000;

export interface AdvanceDeps {
  readonly db: Database;
  readonly clock: Clock;
  readonly plans: Plans;
  readonly onLimit?: OnLimit;
  readonly size?: number;
}

/** Makes the task due now; within a transaction, when that commits. */
export function advanceAutorespondersNow(db: Queryable): Promise<void> {
  return hasten(db, NAME);
}

export function advanceAutoresponders(deps: AdvanceDeps): Recurring {
  return {
    name: NAME,
    seconds: SECONDS,
    run: ({ signal, log }) => advanceDueAutoresponders(deps, signal, log),
  };
}

/** A scan for people whom a trigger has reached, page by page, each in a transaction. A killed scan starts again. */
interface Scan {
  readonly page: (
    tx: Queryable,
    autoresponder: LockedAutoresponder,
    after: string | null,
    size: number,
  ) => Promise<RunPage>;
  /** Runs in the transaction of the last page. */
  readonly finish: (tx: Queryable) => Promise<void>;
  /** The autoresponder's generation at the first page: a change of list or trigger ends the scan. */
  generation: number | null;
  after: string | null;
  readonly isOfDay: boolean;
}

/**
 * Works until nothing is due. In each round every autoresponder gets one page of people and one page of mails, so that a
 * large list does not delay the others.
 * @throws PutBack after `slotMs`, when the running scans have ended, because another process could not continue them
 */
export async function advanceDueAutoresponders(
  deps: AdvanceDeps,
  signal: AbortSignal,
  log: Log,
  slotMs = SLOT_MS,
): Promise<void> {
  const { db, clock } = deps;
  const slotEnd = performance.now() + slotMs;
  const scans = new Map<string, Scan>();
  // Work that is complete, failed, or locked by another process is not tried again before the interval of the task.
  const rests = new Map<string, number>();
  const turn = async (id: string, what: string, work: () => Promise<boolean>): Promise<boolean> => {
    const key = `${what} ${id}`;
    if (signal.aborted || (rests.get(key) ?? 0) > clock.monotonicMs()) return false;
    const goesOn = await work().catch((err: unknown) => {
      log.error({ err, autoresponder: id }, "autoresponder step failed");
      return false;
    });
    if (!goesOn) rests.set(key, clock.monotonicMs() + SECONDS * 1_000);
    return true;
  };
  let isOver = false;
  for (let isAnythingLeft = true; isAnythingLeft && !signal.aborted; isOver = performance.now() > slotEnd) {
    const now = clock.now();
    const due = await listDueAutoresponders(db, now, [...scans.keys()]);
    const idle = due.filter(({ is_idle }) => is_idle).map(({ id }) => id);
    await advanceScans(db, now, idle);
    isAnythingLeft = false;
    for (const one of due) {
      const scan = scans.get(one.id) ?? (isOver ? null : nextScan(one, now));
      const scanned = scan !== null && (await turn(one.id, "scan", () => scanPage(deps, one, scan, scans)));
      const sent =
        !isOver &&
        one.has_due &&
        (await turn(one.id, "send", () => sendStep(deps, one.workspace_id, one.id)));
      isAnythingLeft ||= scanned || sent;
    }
    if (isOver && !isAnythingLeft) throw new PutBack();
  }
}

/** Null when there is no reason for a scan. */
function nextScan(
  { workspace_id: workspaceId, id, has_joined, day_done, at, timezone }: DueAutoresponder,
  now: Date,
): Scan | null {
  const beginning = { generation: null, after: null };
  if (has_joined) {
    return {
      ...beginning,
      isOfDay: false,
      page: (tx, autoresponder, after, size) =>
        insertRunsOfJoined(tx, workspaceId, autoresponder, now, after, size),
      finish: (tx) => updateScanned(tx, workspaceId, id, now),
    };
  }
  if (day_done === null || at === null) return null;
  const [day] = dueDays(day_done, now, { at, timezone });
  if (day === undefined) return null;
  const dated = { day, moment: momentOf(day, { at, timezone }) };
  return {
    ...beginning,
    isOfDay: true,
    page: async (tx, autoresponder, after, size) =>
      (autoresponder.day_done ?? "") < day
        ? insertRunsOfDay(tx, workspaceId, autoresponder, dated, after, size)
        : { seen: 0, last: null },
    finish: (tx) => updateDayDone(tx, workspaceId, id, day),
  };
}

/**
 * Processes one page of a scan, which stays in `scans` until its last page.
 * @returns whether the scan has more pages, or the scan of another day may follow
 */
async function scanPage(
  { db, size = STEP }: AdvanceDeps,
  { workspace_id: workspaceId, id }: DueAutoresponder,
  scan: Scan,
  scans: Map<string, Scan>,
): Promise<boolean> {
  scans.delete(id);
  const page = await db.transaction(async (tx) => {
    const autoresponder = await lockActive(tx, workspaceId, id);
    if (autoresponder === undefined) return undefined;
    scan.generation ??= autoresponder.generation;
    if (scan.generation !== autoresponder.generation) return undefined;
    const scanned = await scan.page(tx, autoresponder, scan.after, size);
    if (scanned.seen < size) await scan.finish(tx);
    return scanned;
  });
  if (page?.seen === size) scans.set(id, Object.assign(scan, { after: page.last }));
  return page !== undefined && (page.seen === size || scan.isOfDay);
}

/**
 * Sends the step that has been due for the longest time to one page of people.
 * @returns false when nothing is due or covered, or another process has the lock
 */
export function sendStep(
  { db, clock, plans, onLimit, size = STEP }: AdvanceDeps,
  workspaceId: WorkspaceId,
  id: string,
): Promise<boolean> {
  return db.transaction(async (tx) => {
    const autoresponder = await lockActive(tx, workspaceId, id);
    if (autoresponder === undefined) return false;
    const now = clock.now();
    const step = await findDueStep(tx, workspaceId, id, now);
    const waitBecause = async (reason: LockedAutoresponder["waiting_reason"]) => {
      if (reason !== autoresponder.waiting_reason) await updateWaitingReason(tx, workspaceId, id, reason);
    };
    if (step === undefined) {
      await waitBecause(null);
      return false;
    }
    if (step.position === null) {
      await skipRemovedStep(tx, workspaceId, id, { stepId: step.id, now, most: size });
      return true;
    }
    // Runs that allowance and balance do not cover stay due.
    const { covered, refusal } = await coveredByAllowance(tx, plans, workspaceId, size, now);
    await waitBecause(covered === 0 ? refusal : null);
    if (covered === 0) {
      if (refusal !== null) onLimit?.(workspaceId, refusal);
      return false;
    }
    await insertStepMails(tx, workspaceId, {
      autoresponder,
      step,
      messageIds: Array.from({ length: covered }, newId),
      now,
      expiresAt: expiryOf(now, autoresponder.retry_hours),
    });
    await notifyWorkers(tx);
    return true;
  });
}

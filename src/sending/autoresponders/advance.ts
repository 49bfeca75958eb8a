/**
 * What moves autoresponders on by themselves, in the role jobs: whoever joined a list, or has their day, begins a series,
 * and whose time has come is written to. One recurring task for the whole installation, in bounded transactions under the
 * autoresponder's row lock, cut short by a kill at any place and taken up by whoever is there: what is done is in the rows
 * of people and mails, of which there is one each.
 */

import { notifyWorkers } from "#delivery/queue/notify-workers.ts";
import { expiryOf } from "#delivery/queue/retry-schedule.ts";
import type { Clock } from "#platform/clock.ts";
import type { Database, Queryable } from "#platform/database/pool.ts";
import { newId, type WorkspaceId } from "#platform/ids.ts";
import { PutBack } from "#platform/jobs/attempt.ts";
import { hasten, type Recurring } from "#platform/jobs/schedule.ts";
import type { Log } from "#platform/log/log.ts";
import { coveredByAllowance } from "#sending/acceptance/allowance.ts";
import type { OnLimit } from "#workspace/billing/limit-notices.ts";
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
/** Before others that recur have its place. */
const PLACE_MS = 20_000;
/** People who are looked at, and mails that are made, in one transaction: so long may a deactivation have to wait. */
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

/** Whom a trigger has reached is looked for page by page, each a transaction; one that is killed begins with the first again. */
interface Look {
  readonly page: (
    tx: Queryable,
    autoresponder: LockedAutoresponder,
    after: string | null,
    size: number,
  ) => Promise<RunPage>;
  /** In the transaction of the last page. */
  readonly finish: (tx: Queryable) => Promise<void>;
  /** Of the autoresponder, when its first page was looked at: after a change of list or trigger the look is over. */
  generation: number | null;
  after: string | null;
  readonly isOfDay: boolean;
}

/**
 * Until nothing is left to do at this moment. Everybody's turn is a page of people and a page of mails, and after each
 * round it is looked anew who has something to do: nobody waits for another's crowd.
 * @throws PutBack after `placeMs`, as soon as the looks under way have ended, which nobody could go on with
 */
export async function advanceDueAutoresponders(
  deps: AdvanceDeps,
  signal: AbortSignal,
  log: Log,
  placeMs = PLACE_MS,
): Promise<void> {
  const { db, clock } = deps;
  const placeEnd = performance.now() + placeMs;
  const looks = new Map<string, Look>();
  // What has come to its end, cannot go on, or is dealt with by somebody else, waits as long as for the next run.
  const rests = new Map<string, number>();
  const turn = async (id: string, what: string, work: () => Promise<boolean>): Promise<boolean> => {
    const key = `${what} ${id}`;
    if (signal.aborted || (rests.get(key) ?? 0) > clock.monotonicMs()) return false;
    const goesOn = await work().catch((err: unknown) => {
      log.error({ err, autoresponder: id }, "an autoresponder could not be moved on");
      return false;
    });
    if (!goesOn) rests.set(key, clock.monotonicMs() + SECONDS * 1_000);
    return true;
  };
  let isOver = false;
  for (let isAnythingLeft = true; isAnythingLeft && !signal.aborted; isOver = performance.now() > placeEnd) {
    const now = clock.now();
    const atWork = await listDueAutoresponders(db, now, [...looks.keys()]);
    const idle = atWork.filter(({ is_idle }) => is_idle).map(({ id }) => id);
    await advanceScans(db, now, idle);
    isAnythingLeft = false;
    for (const one of atWork) {
      const look = looks.get(one.id) ?? (isOver ? null : nextLook(one, now));
      const looked = look !== null && (await turn(one.id, "look", () => lookOn(deps, one, look, looks)));
      const sent =
        !isOver &&
        one.has_due &&
        (await turn(one.id, "send", () => sendStep(deps, one.workspace_id, one.id)));
      isAnythingLeft ||= looked || sent;
    }
    if (isOver && !isAnythingLeft) throw new PutBack();
  }
}

/** Null when there is no reason to look for anybody. */
function nextLook(
  { workspace_id: workspaceId, id, has_joined, day_done, at, timezone }: DueAutoresponder,
  now: Date,
): Look | null {
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
  const celebrated = { day, moment: momentOf(day, { at, timezone }) };
  return {
    ...beginning,
    isOfDay: true,
    page: async (tx, autoresponder, after, size) =>
      (autoresponder.day_done ?? "") < day
        ? insertRunsOfDay(tx, workspaceId, autoresponder, celebrated, after, size)
        : { seen: 0, last: null },
    finish: (tx) => updateDayDone(tx, workspaceId, id, day),
  };
}

/** One page of a look, which is kept in `looks` while it goes on; says whether it does, or another day may follow. */
async function lookOn(
  { db, size = STEP }: AdvanceDeps,
  { workspace_id: workspaceId, id }: DueAutoresponder,
  look: Look,
  looks: Map<string, Look>,
): Promise<boolean> {
  looks.delete(id);
  const page = await db.transaction(async (tx) => {
    const autoresponder = await lockActive(tx, workspaceId, id);
    if (autoresponder === undefined) return undefined;
    look.generation ??= autoresponder.generation;
    if (look.generation !== autoresponder.generation) return undefined;
    const looked = await look.page(tx, autoresponder, look.after, size);
    if (looked.seen < size) await look.finish(tx);
    return looked;
  });
  if (page?.seen === size) looks.set(id, Object.assign(look, { after: page.last }));
  return page !== undefined && (page.seen === size || look.isOfDay);
}

/** One turn of the step that somebody has waited for longest; false when nobody waits, or somebody else is at it. */
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
    // Whom allowance and balance do not cover waits for their turn until they do.
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

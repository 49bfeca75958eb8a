/**
 * What moves autoresponders on by themselves, in the role jobs: whoever joined a list, or has their day, begins a series,
 * and whose time has come is written to. One recurring task for the whole installation, in bounded transactions under the
 * autoresponder's row lock, cut short by a kill at any place and taken up by whoever is there: what is done is in the rows
 * of people and mails, of which there is one each.
 */
import { notifyWorkers } from "../../delivery/channel.ts";
import type { Clock } from "../../platform/clock.ts";
import type { Database, Queryable } from "../../platform/database/pool.ts";
import { newId, type WorkspaceId } from "../../platform/ids.ts";
import { hasten, type Recurring } from "../../platform/jobs/schedule.ts";
import type { Log } from "../../platform/log.ts";
import type { Plans } from "../../workspace/billing/plans.ts";
import { coveredOf } from "../allowance.ts";
import { dueDays, momentOf } from "./days.ts";
import { insertMails } from "./mails-store.ts";
import {
  type AtWork,
  findDueStep,
  insertCelebrants,
  insertJoined,
  listAtWork,
  lockWorking,
  moveScans,
  type Page,
  skipRemovedStep,
  updateDayDone,
  updateScanned,
  type Working,
} from "./runs-store.ts";

const NAME = "advance-autoresponders";
const SECONDS = 5;
/** People who are looked at, and mails that are made, in one transaction: so long may a deactivation have to wait. */
const STEP = 1_000;
/** Retried for this long, then given up. */
const EXPIRES_AFTER_MS = 72 * 60 * 60 * 1_000;

export interface AdvanceDeps {
  readonly db: Database;
  readonly clock: Clock;
  readonly plans: Plans;
  readonly size?: number;
}

/** Makes the task due now; within a transaction, when that commits. */
export function wakeAutoresponders(db: Queryable): Promise<void> {
  return hasten(db, NAME);
}

export function advanceAutoresponders(deps: AdvanceDeps): Recurring {
  return { name: NAME, seconds: SECONDS, run: ({ signal, log }) => advance(deps, signal, log) };
}

/** Until nothing is left to do at this moment. Everybody's turn is one transaction. */
export async function advance(deps: AdvanceDeps, signal: AbortSignal, log: Log): Promise<void> {
  const { db, clock } = deps;
  const began = clock.now();
  const atWork = await listAtWork(db, began);
  const busy = atWork.filter(({ has_joined }) => has_joined).map(({ id }) => id);
  await moveScans(db, began, busy);
  const attempt = (one: AtWork, work: () => Promise<unknown>) =>
    work().catch((err: unknown) => {
      log.error({ err, autoresponder: one.id }, "an autoresponder could not be moved on");
      return false;
    });
  const mayBeDue: AtWork[] = [];
  for (const one of atWork) {
    if (signal.aborted) return;
    if ((await attempt(one, () => beginSeries(deps, one, began, signal))) || one.has_due) mayBeDue.push(one);
  }
  for (let waiting = mayBeDue; waiting.length > 0 && !signal.aborted; ) {
    const again: AtWork[] = [];
    for (const one of waiting) {
      if (signal.aborted) return;
      if (await attempt(one, () => sendStep(deps, one.workspace_id, one.id))) again.push(one);
    }
    waiting = again;
  }
}

/** Says whether there was a reason to look for anybody. */
async function beginSeries(
  deps: AdvanceDeps,
  { workspace_id: workspaceId, id, has_joined, day_done, at, timezone }: AtWork,
  began: Date,
  signal: AbortSignal,
): Promise<boolean> {
  if (has_joined) {
    await pages(deps, workspaceId, id, signal, {
      look: (tx, autoresponder, after, size) => insertJoined(tx, workspaceId, autoresponder, after, size),
      finish: (tx) => updateScanned(tx, workspaceId, id, began),
    });
  }
  if (day_done === null || at === null) return has_joined;
  const days = dueDays(day_done, began, { at, timezone });
  for (const day of days) {
    const celebrated = { day, moment: momentOf(day, { at, timezone }) };
    await pages(deps, workspaceId, id, signal, {
      look: async (tx, autoresponder, after, size) =>
        (autoresponder.day_done ?? "") < day
          ? insertCelebrants(tx, workspaceId, autoresponder, celebrated, after, size)
          : { seen: 0, last: null },
      finish: (tx) => updateDayDone(tx, workspaceId, id, day),
    });
  }
  return days.length > 0;
}

interface Look {
  readonly look: (tx: Queryable, autoresponder: Working, after: string | null, size: number) => Promise<Page>;
  /** In the transaction of the last page. */
  readonly finish: (tx: Queryable) => Promise<void>;
}

/** Looks at people page by page, each a transaction; one that is killed begins with the first again. */
async function pages(
  { db, size = STEP }: AdvanceDeps,
  workspaceId: WorkspaceId,
  id: string,
  signal: AbortSignal,
  { look, finish }: Look,
): Promise<void> {
  let after: string | null = null;
  for (let isOver = false; !isOver && !signal.aborted; ) {
    const from: string | null = after;
    const page: Page | undefined = await db.transaction(async (tx) => {
      const autoresponder = await lockWorking(tx, workspaceId, id);
      if (autoresponder === undefined) return undefined;
      const looked = await look(tx, autoresponder, from, size);
      if (looked.seen < size) await finish(tx);
      return looked;
    });
    isOver = page === undefined || page.seen < size;
    after = page?.last ?? null;
  }
}

/** One turn of the step that somebody has waited for longest; false when nobody waits, or somebody else is at it. */
export function sendStep(
  { db, clock, plans, size = STEP }: AdvanceDeps,
  workspaceId: WorkspaceId,
  id: string,
): Promise<boolean> {
  return db.transaction(async (tx) => {
    const autoresponder = await lockWorking(tx, workspaceId, id);
    if (autoresponder === undefined) return false;
    const now = clock.now();
    const step = await findDueStep(tx, workspaceId, id, now);
    if (step === undefined) return false;
    if (step.position === null) {
      await skipRemovedStep(tx, workspaceId, id, step.id);
      return true;
    }
    // Whom allowance and balance do not cover waits for their turn until they do.
    const { covered } = await coveredOf(tx, plans, workspaceId, size, now);
    if (covered === 0) return false;
    await insertMails(tx, workspaceId, {
      autoresponder,
      step,
      messageIds: Array.from({ length: covered }, newId),
      now,
      expiresAt: new Date(now.getTime() + EXPIRES_AFTER_MS),
    });
    await notifyWorkers(tx);
    return true;
  });
}

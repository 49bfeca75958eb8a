/**
 * Recalculates the engagement scores that new mail lowers, once a day. An open or click updates the score at once
 * (count-engagement.ts), and time alone does not change it: the weights of all messages of a person fall by the same
 * factor. So only people with mail since the last run are read. What is done is stored as a position in the mail of each
 * workspace, so that a run goes on where the last one ended.
 */
import { listScored, updateScores } from "#audience/subscribers/engagement-store.ts";
import type { Clock } from "#platform/clock.ts";
import type { Database, Queryable } from "#platform/database/pool.ts";
import { firstIdAt, type WorkspaceId } from "#platform/ids.ts";
import { PutBack } from "#platform/jobs/attempt.ts";
import type { Recurring } from "#platform/jobs/schedule.ts";
import { DAY_SECONDS, HOUR_MS } from "#platform/time-units.ts";
import { engagementScores } from "./engagement-store.ts";
import {
  findRecipientsAfter,
  limitLockWait,
  listUnscored,
  saveScoredTo,
  type UnscoredMail,
} from "./scored-mail-store.ts";

/** Messages whose recipients are read at a time. */
const PAGE_SIZE = 1_000;
/** Newer mail waits for the next run: a transaction that accepts messages may still be open when later ones have ended. */
const SETTLED_MS = HOUR_MS;
/** An import may lock people for long. Their workspace then waits for the next run, and the others do not. */
const MOST_LOCK_MS = 2_000;
/** After this time the task lets others run. */
const SLOT_MS = 30_000;

interface Dependencies {
  readonly db: Database;
  readonly clock: Clock;
}

export function engagementScoreRefresh(deps: Dependencies): Recurring {
  return {
    name: "refresh-engagement-scores",
    seconds: DAY_SECONDS,
    async run({ signal }) {
      const end = performance.now() + SLOT_MS;
      const isOver = () => performance.now() > end;
      await refreshEngagementScores(deps, signal, { isOver });
      if (isOver() && !signal.aborted) throw new PutBack();
    },
  };
}

/**
 * Returns when the mail of all workspaces is read, `signal` is aborted or `isOver` says that the time has ended. Workspaces take turns, one
 * page each. A workspace whose page fails waits for the next run and does not stop the others.
 * @returns how many scores changed
 * @throws AggregateError with the errors of all workspaces that failed
 */
export async function refreshEngagementScores(
  { db, clock }: Dependencies,
  signal: AbortSignal,
  {
    step = PAGE_SIZE,
    isOver = () => false,
  }: { readonly step?: number; readonly isOver?: () => boolean } = {},
): Promise<number> {
  const now = clock.now();
  const before = firstIdAt(new Date(now.getTime() - SETTLED_MS));
  const mayGoOn = () => !signal.aborted && !isOver();
  let changed = 0;
  const faults: unknown[] = [];
  let waiting = await listUnscored(db, before);
  while (waiting.length > 0 && mayGoOn()) {
    const unfinished: UnscoredMail[] = [];
    for (const mail of waiting) {
      if (!mayGoOn()) break;
      const page = await refreshPage(db, mail, { before, step, now }).catch((fault: unknown) => {
        faults.push(fault);
      });
      changed += page?.changed ?? 0;
      if (page?.scoredTo !== undefined) unfinished.push({ ...mail, scoredTo: page.scoredTo });
    }
    waiting = unfinished;
  }
  if (faults.length > 0) throw new AggregateError(faults, `the scores of ${faults.length} workspaces failed`);
  return changed;
}

/** @returns how many scores changed, and the new position if there may be more mail */
async function refreshPage(
  db: Database,
  mail: UnscoredMail,
  { before, step, now }: { readonly before: string; readonly step: number; readonly now: Date },
): Promise<{ readonly changed: number; readonly scoredTo: string | undefined }> {
  const { seen, last, subscriberIds } = await findRecipientsAfter(db, mail, before, step);
  if (last === null) return { changed: 0, scoredTo: undefined };
  const changed = await db.transaction(async (tx) => {
    await limitLockWait(tx, MOST_LOCK_MS);
    const count = await refreshScoresOf(tx, mail.workspaceId, subscriberIds, now);
    await saveScoredTo(tx, mail.workspaceId, last);
    return count;
  });
  return { changed, scoredTo: seen < step ? undefined : last };
}

/**
 * Recalculates the scores of people whose mail changed. A score of 0 cannot fall. @returns how many scores changed
 */
export async function refreshScoresOf(
  tx: Queryable,
  workspaceId: WorkspaceId,
  subscriberIds: readonly string[],
  now: Date,
): Promise<number> {
  const people = await listScored(tx, workspaceId, subscriberIds);
  if (people.length === 0) return 0;
  const scores = await engagementScores(tx, people, now);
  const moved = people
    .map((person, at) => ({ ...person, was: person.score, score: scores[at] ?? 0 }))
    .filter(({ was, score }) => was !== score);
  return moved.length === 0 ? 0 : updateScores(tx, moved);
}

/**
 * Recalculates engagement scores once a day, because a score falls when a person does not open new messages. An open or
 * click updates the score at once (count-engagement.ts).
 */
import { listScored, updateScores } from "#audience/subscribers/engagement-store.ts";
import type { Clock } from "#platform/clock.ts";
import type { Database } from "#platform/database/pool.ts";
import { engagementScores } from "./engagement-store.ts";

const PAGE_SIZE = 1_000;

/**
 * Returns when all subscribers are done or `signal` is aborted. A page that fails does not stop the others.
 * @returns how many scores changed
 * @throws AggregateError with the errors of all failed pages
 */
export async function refreshEngagementScores(
  { db, clock }: { readonly db: Database; readonly clock: Clock },
  signal: AbortSignal,
  { step = PAGE_SIZE }: { readonly step?: number } = {},
): Promise<number> {
  let changed = 0;
  const faults: unknown[] = [];
  let page = await listScored(db, null, step);
  while (page.length > 0 && !signal.aborted) {
    await refresh(db, page, clock.now()).then(
      (count) => {
        changed += count;
      },
      (fault: unknown) => faults.push(fault),
    );
    page = await listScored(db, page.at(-1) ?? null, step);
  }
  if (faults.length > 0) throw new AggregateError(faults, `${faults.length} pages of scores failed`);
  return changed;
}

async function refresh(
  db: Database,
  people: Awaited<ReturnType<typeof listScored>>,
  now: Date,
): Promise<number> {
  const scores = await engagementScores(db, people, now);
  const moved = people
    .map((person, at) => ({ ...person, was: person.score, score: scores[at] ?? 0 }))
    .filter(({ was, score }) => was !== score);
  return moved.length === 0 ? 0 : updateScores(db, moved);
}

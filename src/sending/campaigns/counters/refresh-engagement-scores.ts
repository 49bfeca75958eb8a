/**
 * Engagement scores fall by themselves, when messages come that nobody opens. What people do moves theirs at once
 * (engagement.ts); everybody else's is worked out again once a day.
 */
import { listScored, updateScores } from "#audience/subscribers/engagement-store.ts";
import type { Clock } from "#platform/clock.ts";
import type { Database } from "#platform/database/pool.ts";
import { engagementScores } from "./engagement-store.ts";

const PAGE = 1_000;

/**
 * Until everybody is done or `signal` says stop; a page that fails keeps nobody else from it.
 * @returns how many scores changed
 * @throws AggregateError when pages failed; calling again tries again
 */
export async function refreshEngagementScores(
  { db, clock }: { readonly db: Database; readonly clock: Clock },
  signal: AbortSignal,
  { step = PAGE }: { readonly step?: number } = {},
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

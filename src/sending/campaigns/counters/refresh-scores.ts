/**
 * Engagement scores fall by themselves, when messages come that nobody opens. What people do moves theirs at once
 * (engagement.ts); everybody else's is worked out again once a day.
 */
import { listScored, updateScores } from "../../../audience/subscribers/engagement-store.ts";
import type { Clock } from "../../../platform/clock.ts";
import type { Database } from "../../../platform/database/pool.ts";
import { engagementScores } from "./engagement-store.ts";

const PAGE = 1_000;

/** Until everybody is done or `signal` says stop; returns how many scores changed. */
export async function refreshScores(
  { db, clock }: { readonly db: Database; readonly clock: Clock },
  signal: AbortSignal,
): Promise<number> {
  let changed = 0;
  let page = await listScored(db, null, PAGE);
  while (page.length > 0 && !signal.aborted) {
    const scores = await engagementScores(db, page, clock.now());
    const moved = page
      .map((person, at) => ({ ...person, was: person.score, score: scores[at] ?? 0 }))
      .filter(({ was, score }) => was !== score);
    if (moved.length > 0) await updateScores(db, moved);
    changed += moved.length;
    page = await listScored(db, page.at(-1) ?? null, PAGE);
  }
  return changed;
}

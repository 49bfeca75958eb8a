/**
 * Counts of segment members, as lists of segments show them. An exact count takes a tenth of a second or more for a
 * million members, and a page may show many segments. So segments of small lists are counted when they are read, those
 * of large lists when they are saved, and active ones also by a recurring task.
 */

import type { Database, Queryable } from "#platform/database/pool.ts";
import { ApiError } from "#platform/errors.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import { listSizes } from "./conditions/list-sizes-store.ts";
import { membersOf, membersOfAll } from "./members-as-relation.ts";
import { countMembersIn, withDeadline } from "./members-store.ts";
import type { Segment } from "./segment.ts";
import { findSegment, findUncounted, updateSegmentCount } from "./store.ts";

/** Members that may be looked at for one page of segments: a third of a second, if each is looked up by key. */
const MOST_LOOKS = 100_000;
/** Time limit for a page of segments, and for one of them, so that a slow one leaves time for the others. */
const MOST_READ_MS = 1_000;
const MOST_ONE_MS = 500;
const MOST_SAVE_MS = 5_000;
const MOST_RENEWAL_MS = 30_000;
/** Maximum age of the count of an active segment. */
const RENEWED_AFTER_MS = 15 * 60_000;

/** The segments with current counts for as many as can be counted quickly. */
export async function withFreshCounts(
  db: Database,
  workspaceId: WorkspaceId,
  segments: readonly Segment[],
  now: Date,
): Promise<Segment[]> {
  const lists = [...new Set(segments.map((segment) => segment.mailing_list_id))];
  const sizes = await listSizes(db, workspaceId, lists);
  const sizeOf = ({ mailing_list_id }: Segment) => sizes.get(mailing_list_id) ?? 0;
  let left = MOST_LOOKS;
  const small = segments
    .toSorted((one, other) => sizeOf(one) - sizeOf(other))
    .filter((segment) => {
      left -= sizeOf(segment);
      return left >= 0;
    });
  const fresh = await countMost(db, workspaceId, small, now);
  return segments.map((segment) => {
    const subscriber_count = fresh.get(segment.id);
    return subscriber_count === undefined ? segment : { ...segment, subscriber_count, counted_at: now };
  });
}

/** Counts the segments in order until the time is used up. @returns counts by segment id */
async function countMost(
  db: Database,
  workspaceId: WorkspaceId,
  segments: readonly Segment[],
  now: Date,
): Promise<ReadonlyMap<string, number>> {
  const relations = await orElse([], membersOfAll(db, workspaceId, segments, now));
  const left = relations.map((relation, at) => ({ id: segments[at]?.id ?? "", relation }));
  const counts = new Map<string, number>();
  let until = Number.POSITIVE_INFINITY;
  const countLeft = async (tx: Queryable) => {
    until = Math.min(until, performance.now() + MOST_READ_MS);
    while (performance.now() < until) {
      const next = left.shift();
      if (next === undefined) return;
      counts.set(next.id, await countMembersIn(tx, next.relation));
    }
  };
  // A failed count ends its transaction; the next ones run in another.
  for (let before = left.length + 1; left.length > 0 && left.length < before && performance.now() < until; ) {
    before = left.length;
    await orElse(undefined, withDeadline(db, workspaceId, MOST_ONE_MS, countLeft));
  }
  return counts;
}

/** Counts a segment and stores the count; if that takes too long, the stored count stays. */
export function countSaved(
  db: Database,
  workspaceId: WorkspaceId,
  segment: Segment,
  now: Date,
): Promise<Segment> {
  return orElse(segment, renew(db, workspaceId, segment, now, MOST_SAVE_MS));
}

async function renew(
  db: Database,
  workspaceId: WorkspaceId,
  segment: Segment,
  now: Date,
  mostMs: number,
): Promise<Segment> {
  const subscriber_count = await withDeadline(db, workspaceId, mostMs, async (tx) =>
    countMembersIn(tx, await membersOf(tx, workspaceId, segment.mailing_list_id, segment, now)),
  );
  await updateSegmentCount(db, workspaceId, segment, subscriber_count, now);
  return { ...segment, subscriber_count, counted_at: now };
}

/** Recurring task: recounts every active segment of the installation whose count is too old. */
export async function recountActiveSegments(db: Database, now: Date, signal: AbortSignal): Promise<void> {
  const since = new Date(now.getTime() - RENEWED_AFTER_MS);
  const failed: string[] = [];
  while (!signal.aborted) {
    const next = await findUncounted(db, since, failed);
    if (next === undefined) return;
    const segment = await findSegment(db, next.workspace_id, undefined, next.id);
    const counted =
      segment && (await orElse(undefined, renew(db, next.workspace_id, segment, now, MOST_RENEWAL_MS)));
    if (counted === undefined) failed.push(next.id);
  }
}

/** Returns `instead` for a count that takes too long, or whose conditions can no longer be compiled. */
async function orElse<Value>(instead: Value, promise: Promise<Value>): Promise<Value> {
  try {
    return await promise;
  } catch (fault) {
    if (fault instanceof ApiError) return instead;
    throw fault;
  }
}

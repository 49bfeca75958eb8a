/**
 * How many are in a segment, where segments are listed. A count is exact, but takes a tenth of a second and more for a
 * million members, and there may be a whole page of segments: on small lists they are counted as they are read, on
 * large ones when they are saved, and those that are active again from time to time.
 */

import type { Database, Queryable } from "#platform/database/pool.ts";
import { ApiError } from "#platform/errors.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import { listSizes } from "./conditions/list-sizes-store.ts";
import { countMembersIn, withDeadline } from "./members-store.ts";
import type { Segment } from "./segment.ts";
import { membersOf, membersOfAll } from "./segment-members.ts";
import { findSegment, findUncounted, updateSegmentCount } from "./store.ts";

/** Members that are looked at for one page of segments: a third of a second, when each is looked up by key. */
const MOST_LOOKS = 100_000;
/** What a page of segments may take, and one of them: a costly one leaves time for the others. */
const MOST_READ_MS = 1_000;
const MOST_ONE_MS = 500;
const MOST_SAVE_MS = 5_000;
const MOST_RENEWAL_MS = 30_000;
/** An active segment's count is not older than this. */
const RENEWED_AFTER_MS = 15 * 60_000;

/** The segments, with counts of this moment for as many as can be counted quickly. */
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

/** How many are in each, by its id, as far as the time goes: the first come first. */
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
  // One that fails ends its transaction; those behind it have another.
  for (let before = left.length + 1; left.length > 0 && left.length < before && performance.now() < until; ) {
    before = left.length;
    await orElse(undefined, withDeadline(db, workspaceId, MOST_ONE_MS, countLeft));
  }
  return counts;
}

/** Counts a segment and remembers it; when that takes too long, the count stays what it was. */
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

/** Recurring work: counts every active segment of the installation whose count has grown old. */
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

/** What takes too long, or is no statement any more, is no reason to fail here. */
async function orElse<Value>(instead: Value, promise: Promise<Value>): Promise<Value> {
  try {
    return await promise;
  } catch (fault) {
    if (fault instanceof ApiError) return instead;
    throw fault;
  }
}

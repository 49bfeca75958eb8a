/**
 * How many are in a segment, where segments are listed. A count is exact, but takes a tenth of a second and more for a
 * million members, and there may be a whole page of segments: on small lists they are counted as they are read, on
 * large ones when they are saved, and those that are active again from time to time.
 */
import type { Database, Queryable } from "../../platform/database/pool.ts";
import { ApiError } from "../../platform/errors.ts";
import type { WorkspaceId } from "../../platform/ids.ts";
import { membersOf, membersOfEach } from "./members-of.ts";
import { countIn, countInEach, listSizes, withDeadline } from "./members-store.ts";
import type { Segment } from "./segment.ts";
import { findSegment, findUncounted, updateSegmentCount } from "./store.ts";

/** Members that are looked at for one page of segments: a few milliseconds. */
const MOST_LOOKS = 100_000;
const MOST_READ_MS = 500;
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
  let left = MOST_LOOKS;
  const small = segments.filter(({ mailing_list_id }) => {
    left -= sizes.get(mailing_list_id) ?? 0;
    return left >= 0;
  });
  if (small.length === 0) return [...segments];
  const countAll = async (tx: Queryable) => countInEach(tx, await membersOfEach(tx, workspaceId, small, now));
  const counts = await orElse([], withDeadline(db, workspaceId, MOST_READ_MS, countAll));
  const fresh = new Map(small.map(({ id }, index) => [id, counts[index]]));
  return segments.map((segment) => {
    const subscriber_count = fresh.get(segment.id);
    return subscriber_count === undefined ? segment : { ...segment, subscriber_count, counted_at: now };
  });
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
    countIn(tx, await membersOf(tx, workspaceId, segment.mailing_list_id, segment, now)),
  );
  await updateSegmentCount(db, workspaceId, segment.id, subscriber_count, now);
  return { ...segment, subscriber_count, counted_at: now };
}

/** Recurring work: counts every active segment of the installation whose count has grown old. */
export async function renewCounts(db: Database, now: Date, signal: AbortSignal): Promise<void> {
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

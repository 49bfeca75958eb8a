/** The segments that a person is in, of all lists that they are on, at this moment: one statement for all. */
import sql from "sql-template-tag";
import { findSubscriber } from "#audience/subscribers/store.ts";
import type { Database } from "#platform/database/pool.ts";
import { notFound } from "#platform/errors.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import { findWhichHaveMembers, withDeadline } from "./members-store.ts";
import type { SegmentOfSubscriber } from "./segment.ts";
import { membersOfAll } from "./segment-members.ts";
import { listSegmentsAround } from "./store.ts";

const MOST_MS = 5_000;

/** Newest segment first. @throws ApiError NOT_FOUND */
export async function segmentsOfSubscriber(
  db: Database,
  workspaceId: WorkspaceId,
  subscriberId: string,
  now: Date,
): Promise<SegmentOfSubscriber[]> {
  if ((await findSubscriber(db, workspaceId, subscriberId)) === undefined) throw notFound("Subscriber");
  const segments = await listSegmentsAround(db, workspaceId, subscriberId);
  const isThem = sql`s.id = ${subscriberId}`;
  const areIn = await withDeadline(db, workspaceId, MOST_MS, async (tx) =>
    findWhichHaveMembers(tx, await membersOfAll(tx, workspaceId, segments, now, isThem)),
  );
  return segments
    .filter((_, index) => areIn[index])
    .map(({ id, name, mailing_list_id, mailing_list_name, is_active }) => ({
      id,
      name,
      mailing_list_id,
      mailing_list_name,
      is_active,
    }));
}

/** The members of saved segments, and the people who meet conditions, as relations for other statements. */
import sql, { type Sql } from "sql-template-tag";
import { findSubscriber } from "#audience/subscribers/store.ts";
import type { Database, Queryable } from "#platform/database/pool.ts";
import { required } from "#platform/errors.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import type { Conditions } from "./conditions/conditions.ts";
import { type ListConditions, openBinder } from "./conditions/load-and-bind.ts";
import { findWhichHaveMembers, membersRelation, withDeadline } from "./members-store.ts";
import type { SegmentOfSubscriber } from "./segment.ts";
import { findSegment, listSegmentsAround } from "./store.ts";
import { type IdRange, workspaceMembersRelation } from "./workspace-members-store.ts";

/**
 * A select in brackets with the column id: the subscribers of a list who are in a segment of it, or who meet conditions
 * (conditions.ts), at `now`. Each once; only active members, unless the conditions name the status.
 * @throws ApiError NOT_FOUND when the list has no such segment
 */
export async function membersOf(
  db: Queryable,
  workspaceId: WorkspaceId,
  mailingListId: string,
  wanted: { readonly segmentId: string } | { readonly conditions: Conditions },
  now: Date,
): Promise<Sql> {
  const target =
    "conditions" in wanted
      ? { mailing_list_id: mailingListId, conditions: wanted.conditions }
      : await findSegment(db, workspaceId, mailingListId, wanted.segmentId);
  const [relation] = await membersOfAll(db, workspaceId, [required(target, "Segment")], now);
  if (relation === undefined) throw new Error("no relation for a target");
  return relation;
}

/**
 * The people who meet conditions on any list of the workspace (workspace-members-store.ts).
 * @param lists all lists of the workspace
 * @param stretch only people in this range of ids
 */
export async function membersOfWorkspace(
  db: Queryable,
  workspaceId: WorkspaceId,
  lists: readonly { readonly id: string }[],
  { conditions, stretch }: { readonly conditions: Conditions; readonly stretch: IdRange | undefined },
  now: Date,
): Promise<Sql> {
  const targets = lists.map(({ id }) => ({ mailing_list_id: id, conditions }));
  const binder = await openBinder(db, workspaceId, targets, now);
  return workspaceMembersRelation(
    workspaceId,
    targets.map((target) => binder.bind(target)),
    stretch,
  );
}

/** As membersOf, for several lists or segments, in their order. @param also one more condition (members-store.ts) */
export async function membersOfAll(
  db: Queryable,
  workspaceId: WorkspaceId,
  targets: readonly ListConditions[],
  now: Date,
  also?: Sql,
): Promise<Sql[]> {
  const binder = await openBinder(db, workspaceId, targets, now);
  return targets.map((target) => membersRelation(workspaceId, binder.bind(target), also));
}

/** Limit of one statement. */
const MOST_MS = 5_000;

/** The segments that a person is in now, newest segment first, found by one statement. @throws ApiError NOT_FOUND */
export async function segmentsOfSubscriber(
  db: Database,
  workspaceId: WorkspaceId,
  subscriberId: string,
  now: Date,
): Promise<SegmentOfSubscriber[]> {
  required(await findSubscriber(db, workspaceId, subscriberId), "Subscriber");
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

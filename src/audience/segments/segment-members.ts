/** Who is in a segment, or meets conditions that nobody saved, as a relation for other statements. */
import type { Sql } from "sql-template-tag";
import type { Queryable } from "#platform/database/pool.ts";
import { notFound } from "#platform/errors.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import { type ListConditions, openBinder } from "./conditions/binder.ts";
import type { Conditions } from "./conditions/conditions.ts";
import { membersRelation } from "./members-store.ts";
import { findSegment } from "./store.ts";
import { type IdRange, workspaceMembersRelation } from "./workspace-members-store.ts";

/**
 * A select in brackets with the column id: the subscribers of a list who are in a segment of it, or who meet conditions
 * (conditions.ts), at this moment. Each once; only active members, unless the conditions name the status.
 * @throws ApiError NOT_FOUND when there is no such segment on the list
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
  if (target === undefined) throw notFound("Segment");
  const [relation] = await membersOfAll(db, workspaceId, [target], now);
  if (relation === undefined) throw new Error("no relation for a target");
  return relation;
}

/**
 * Whoever meets conditions on any of the lists, which are all that the workspace has (workspace-members-store.ts).
 * @param stretch nobody else is looked at
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

/** The same as membersOf for several at once, in their order. `also` is one more condition (members-store.ts). */
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

/** The table of segments, with the locks on what their conditions refer to. */

import sql, { empty, type Sql } from "sql-template-tag";
import { foldText } from "#platform/database/fold-text.ts";
import type { Page } from "#platform/database/page.ts";
import type { Queryable } from "#platform/database/pool.ts";
import { lockRowLimit, type WorkspaceRowLimit } from "#platform/database/row-limit-store.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import type { Reference } from "./conditions/load-references-store.ts";
import type { Segment } from "./segment.ts";

const segments = sql`
  select g.id, g.name, g.description, g.mailing_list_id, l.name as mailing_list_name, g.conditions, g.is_active,
    g.subscriber_count, g.counted_at, g.created_at, g.updated_at
  from segments g join mailing_lists l on l.workspace_id = g.workspace_id and l.id = g.mailing_list_id`;

/** Limited because all of them are read when one changes. */
export const segmentRoom: WorkspaceRowLimit = { table: sql`segments`, what: "segments", most: 1_000 };

/** Which segments to list. */
export interface SegmentFilter {
  readonly mailingListId: string | undefined;
  /** Matches anywhere in the name. */
  readonly search: string | undefined;
}

const areWanted = (workspaceId: WorkspaceId, { mailingListId, search }: SegmentFilter): Sql => sql`
  g.workspace_id = ${workspaceId} ${mailingListId === undefined ? empty : sql`and g.mailing_list_id = ${mailingListId}`}
  ${
    search === undefined
      ? empty
      : sql`and position(${foldText(search)} in lower(g.name collate case_folding)) > 0`
  }`;

/** Newest first. */
export function listSegments(
  db: Queryable,
  workspaceId: WorkspaceId,
  filter: SegmentFilter,
  page: Page,
): Promise<Segment[]> {
  return db.rows(sql`
    ${segments} where ${areWanted(workspaceId, filter)}
    order by g.created_at desc, g.id desc limit ${page.limit} offset ${page.offset}`);
}

export async function countSegments(
  db: Queryable,
  workspaceId: WorkspaceId,
  filter: SegmentFilter,
): Promise<number> {
  const row = await db.row<{ count: number }>(sql`
    select count(*)::int as count from segments g where ${areWanted(workspaceId, filter)}`);
  return row?.count ?? 0;
}

/** On this list, or (undefined) on any list. */
export function findSegment(
  db: Queryable,
  workspaceId: WorkspaceId,
  mailingListId: string | undefined,
  id: string,
): Promise<Segment | undefined> {
  return db.row(sql`
    ${segments} where ${areWanted(workspaceId, { mailingListId, search: undefined })} and g.id = ${id}`);
}

/** The segments of the lists that a person is on, newest first. */
export function listSegmentsAround(
  db: Queryable,
  workspaceId: WorkspaceId,
  subscriberId: string,
): Promise<Segment[]> {
  return db.rows(sql`
    ${segments}
    where g.workspace_id = ${workspaceId} and g.mailing_list_id in (
      select mailing_list_id from memberships
      where workspace_id = ${workspaceId} and subscriber_id = ${subscriberId})
    order by g.created_at desc, g.id desc`);
}

/** Serializes changes of what segments refer to, so that two changes together cannot create a circle. */
export async function lockReferences(tx: Queryable, workspaceId: WorkspaceId): Promise<void> {
  await lockRowLimit(tx, workspaceId, segmentRoom);
}

/**
 * Locks a segment until the transaction ends: for removal, or for a change, during which others may still refer to it.
 */
export function lockSegment(
  tx: Queryable,
  workspaceId: WorkspaceId,
  mailingListId: string,
  id: string,
  goal: "removal" | "change",
): Promise<Segment | undefined> {
  return tx.row(sql`
    ${segments} where g.workspace_id = ${workspaceId} and g.mailing_list_id = ${mailingListId} and g.id = ${id}
    ${goal === "removal" ? sql`for update of g` : sql`for no key update of g`}`);
}

type Settings = Pick<Segment, "id" | "name" | "description" | "is_active">;

/** Conditions with what was derived from them. */
type SavedConditions = Pick<Segment, "conditions"> & Omit<Reference, "id">;

/** The segment has no count yet. */
export async function insertSegment(
  tx: Queryable,
  workspaceId: WorkspaceId,
  segment: Settings & SavedConditions & Pick<Segment, "mailing_list_id">,
  now: Date,
): Promise<void> {
  await tx.run(sql`
    insert into segments (workspace_id, id, mailing_list_id, name, description, conditions, referenced_segments,
      rule_count, is_active, created_at, updated_at)
    values (${workspaceId}, ${segment.id}, ${segment.mailing_list_id}, ${segment.name}, ${segment.description},
      ${JSON.stringify(segment.conditions)}, ${segment.referenced_segments}, ${segment.rule_count},
      ${segment.is_active}, ${now}, ${now})`);
}

/** The caller has locked the segment. Without new conditions the old ones stay; new ones reset the count. */
export async function updateSegment(
  tx: Queryable,
  workspaceId: WorkspaceId,
  segment: Settings,
  conditions: SavedConditions | undefined,
  now: Date,
): Promise<void> {
  const changed =
    conditions === undefined
      ? empty
      : sql`, conditions = ${JSON.stringify(conditions.conditions)},
          referenced_segments = ${conditions.referenced_segments}, rule_count = ${conditions.rule_count},
          subscriber_count = null, counted_at = null`;
  await tx.run(sql`
    update segments
    set name = ${segment.name}, description = ${segment.description}, is_active = ${segment.is_active},
      updated_at = ${now} ${changed}
    where workspace_id = ${workspaceId} and id = ${segment.id}`);
}

export async function removeSegment(tx: Queryable, workspaceId: WorkspaceId, id: string): Promise<void> {
  await tx.run(sql`delete from segments where workspace_id = ${workspaceId} and id = ${id}`);
}

/** Stores the count, unless the conditions have changed since it was made. */
export async function updateSegmentCount(
  db: Queryable,
  workspaceId: WorkspaceId,
  { id, conditions }: Pick<Segment, "id" | "conditions">,
  count: number,
  now: Date,
): Promise<void> {
  await db.run(sql`
    update segments set subscriber_count = ${count}, counted_at = ${now}
    where workspace_id = ${workspaceId} and id = ${id}
      and conditions = ${JSON.stringify(conditions)}::jsonb`);
}

/** An active segment of any workspace that was not counted since a time. */
export function findUncounted(
  db: Queryable,
  since: Date,
  passedOver: readonly string[],
): Promise<{ readonly workspace_id: WorkspaceId; readonly id: string } | undefined> {
  return db.row(sql`
    select workspace_id, id from segments
    where is_active and (counted_at is null or counted_at < ${since}) and id <> all(${passedOver}::uuid[])
    order by counted_at nulls first limit 1`);
}

/** Reads what conditions refer to: other segments, lists, and definitions of custom fields. */

import sql from "sql-template-tag";
import type { Queryable } from "#platform/database/pool.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import type { FieldDefinition } from "./binding-scope.ts";
import type { Conditions } from "./conditions.ts";

/** A segment as binding needs it. */
export interface StoredConditions {
  readonly id: string;
  readonly mailing_list_id: string;
  readonly conditions: Conditions;
}

/** These segments, and all segments that they refer to, directly or indirectly. */
export function listConditionsOf(
  db: Queryable,
  workspaceId: WorkspaceId,
  ids: readonly string[],
): Promise<StoredConditions[]> {
  return db.rows(sql`
    with recursive reached as (
      select unnest(${ids}::uuid[]) as id
      union
      select unnest(g.referenced_segments)
      from reached r join segments g on g.workspace_id = ${workspaceId} and g.id = r.id
    )
    select id, mailing_list_id, conditions from reached join segments using (id)
    where workspace_id = ${workspaceId}`);
}

/**
 * The definitions of custom fields on these lists, global ones first. Inactive ones are included, because people may
 * have values of their type.
 */
export function listDefinitions(
  db: Queryable,
  workspaceId: WorkspaceId,
  mailingListIds: readonly string[],
): Promise<(FieldDefinition & { readonly mailing_list_id: string | null })[]> {
  return db.rows(sql`
    select mailing_list_id, field_name, field_type, field_options from custom_fields
    where workspace_id = ${workspaceId}
      and (mailing_list_id is null or mailing_list_id = any(${mailingListIds}::uuid[]))
    order by mailing_list_id nulls first`);
}

/** The definition of a name on a list, or (null) on lists without an own one. */
export async function findDefinition(
  db: Queryable,
  workspaceId: WorkspaceId,
  mailingListId: string | null,
  name: string,
): Promise<FieldDefinition | undefined> {
  const definitions = await listDefinitions(db, workspaceId, mailingListId === null ? [] : [mailingListId]);
  return definitions.findLast(({ field_name }) => field_name === name);
}

/** Those of these campaigns that exist. The audience reads what sending writes, and never changes it. */
export async function listCampaignIds(
  db: Queryable,
  workspaceId: WorkspaceId,
  ids: readonly string[],
): Promise<string[]> {
  const rows = await db.rows<{ id: string }>(sql`
    select id from campaigns
    where workspace_id = ${workspaceId} and id = any(${ids}::uuid[]) and deleted_at is null`);
  return rows.map(({ id }) => id);
}

/** What a segment refers to. */
export interface Reference {
  readonly id: string;
  readonly referenced_segments: readonly string[];
  /** The number of its own conditions. */
  readonly rule_count: number;
}

/** The references of all segments of the workspace. */
export function listReferences(db: Queryable, workspaceId: WorkspaceId): Promise<Reference[]> {
  return db.rows(sql`
    select id, referenced_segments, rule_count from segments where workspace_id = ${workspaceId}`);
}

/** Ids that rules name, by what they are to be. */
export interface NamedIds {
  readonly segments: readonly string[];
  readonly lists: readonly string[];
}

/**
 * The ids of lists and segments that conditions on a list may refer to: not those of another list that is being
 * deleted.
 */
export async function listNameable(
  db: Queryable,
  workspaceId: WorkspaceId,
  mailingListId: string,
  { segments, lists }: NamedIds,
): Promise<ReadonlySet<string>> {
  const rows = await db.rows<{ id: string }>(sql`
    with staying as (
      select id from mailing_lists
      where workspace_id = ${workspaceId} and (not is_going or id = ${mailingListId}))
    select id from staying where id = any(${lists}::uuid[])
    union all
    select g.id from segments g join staying l on l.id = g.mailing_list_id
    where g.workspace_id = ${workspaceId} and g.id = any(${segments}::uuid[])`);
  return new Set(rows.map((row) => row.id));
}

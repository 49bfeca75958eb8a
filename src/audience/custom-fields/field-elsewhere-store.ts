/** Finds out whether a name is that of a custom field anywhere in the workspace. */
import sql from "sql-template-tag";
import type { Queryable } from "#platform/database/pool.ts";
import type { WorkspaceId } from "#platform/ids.ts";

/** The names that any list of the workspace defines, or a global field has. */
export async function listDefinedNames(
  db: Queryable,
  workspaceId: WorkspaceId,
  names: readonly string[],
): Promise<string[]> {
  const rows = await db.rows<{ field_name: string }>(sql`
    select distinct field_name from custom_fields
    where workspace_id = ${workspaceId} and field_name = any(${names}::text[])`);
  return rows.map((row) => row.field_name);
}

/** The names under which one of the newest `mostPeople` people has a value. */
export async function listHeldNames(
  db: Queryable,
  workspaceId: WorkspaceId,
  names: readonly string[],
  mostPeople: number,
): Promise<string[]> {
  const rows = await db.rows<{ name: string }>(sql`
    select distinct n.name
    from (select custom_fields from subscribers
      where workspace_id = ${workspaceId} order by id desc limit ${mostPeople}) s
    join unnest(${names}::text[]) n (name) on s.custom_fields ? n.name
    where s.custom_fields ?| ${names}::text[]`);
  return rows.map(({ name }) => name);
}

/** Whether the workspace has more than `count` people. */
export async function hasMorePeople(
  db: Queryable,
  workspaceId: WorkspaceId,
  count: number,
): Promise<boolean> {
  const next = await db.row(sql`
    select from subscribers where workspace_id = ${workspaceId} order by id desc offset ${count} limit 1`);
  return next !== undefined;
}

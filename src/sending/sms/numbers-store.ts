/** The telephone numbers of an audience, as they are stored. */
import sql, { type Sql } from "sql-template-tag";
import { bounded } from "#audience/segments/members-store.ts";
import { withWorkspace } from "#audience/subscribers/memberships/planner-hints.ts";
import type { Queryable } from "#platform/database/pool.ts";
import type { WorkspaceId } from "#platform/ids.ts";

/** Those of the people of a relation with the column id; null where there is none. */
export function listNumbers(
  db: Queryable,
  workspaceId: WorkspaceId,
  people: Sql,
  field: string,
): Promise<{ readonly id: string; readonly number: string | null }[]> {
  return db.rows(
    bounded(sql`
      select s.id, s.custom_fields ->> ${field} as number
      from (${withWorkspace(workspaceId, sql`${people} p`)}) p cross join lateral (
        select id, custom_fields from subscribers where workspace_id = p.workspace and id = p.id offset 0) s`),
  );
}

/**
 * Who of the first `looks` people of a relation has a number, among the first `most` who have anything in the field: their
 * relation, null for nobody, and how many `found` have anything there.
 */
export async function listNumbered(
  db: Queryable,
  workspaceId: WorkspaceId,
  people: Sql,
  field: string,
  {
    looks,
    most,
    isNumber,
  }: { readonly looks: number; readonly most: number; readonly isNumber: (text: string) => boolean },
): Promise<{ readonly found: number; readonly numbered: Sql | null }> {
  const first = sql`(select id from ${people} a limit ${looks})`;
  const rows = await db.rows<{ readonly id: string; readonly number: string }>(
    bounded(sql`
      select s.id, s.number from (${withWorkspace(workspaceId, sql`${first} p`)}) p cross join lateral (
        select id, custom_fields ->> ${field} as number from subscribers
        where workspace_id = p.workspace and id = p.id offset 0) s
      where s.number <> '' limit ${most}`),
  );
  const ids = rows.flatMap(({ id, number }) => (isNumber(number) ? [id] : []));
  return {
    found: rows.length,
    numbered: ids.length === 0 ? null : sql`(select unnest(${ids}::uuid[]) as id)`,
  };
}

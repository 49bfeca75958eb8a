/** The telephone numbers of an audience, as they are stored. */
import sql, { type Sql } from "sql-template-tag";
import { bounded } from "../../audience/segments/members-store.ts";
import { withWorkspace } from "../../audience/subscribers/with-workspace.ts";
import type { Queryable } from "../../platform/database/pool.ts";
import type { WorkspaceId } from "../../platform/ids.ts";

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

/** What tests of suppression need beside its endpoints. */
import sql from "sql-template-tag";
import type { Queryable } from "../../src/platform/database/pool.ts";
import { newId, type WorkspaceId } from "../../src/platform/ids.ts";

/** A segment of a mailing list; answers its id. */
export async function insertSegment(
  db: Queryable,
  workspaceId: WorkspaceId,
  mailingListId: string,
  name: string,
): Promise<string> {
  const id = newId();
  await db.run(sql`
    insert into segments (workspace_id, id, mailing_list_id, name, conditions, referenced_segments, rule_count,
      is_active, created_at, updated_at)
    values (${workspaceId}, ${id}, ${mailingListId}, ${name}, '{}', '{}', 0, true, now(), now())`);
  return id;
}

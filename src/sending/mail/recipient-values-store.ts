/** What merge tags show of people. */
import sql from "sql-template-tag";
import type { Queryable } from "#platform/database/pool.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import type { RecipientValues } from "#sending/content/render.ts";

/** Of the person with a normalised address. */
export function findRecipientValues(
  db: Queryable,
  workspaceId: WorkspaceId,
  email: string,
): Promise<Pick<RecipientValues, "first_name" | "last_name" | "custom_fields"> | undefined> {
  return db.row(sql`
    select first_name, last_name, custom_fields from subscribers
    where workspace_id = ${workspaceId} and email = ${email}`);
}

/** Names of what messages came from and is deleted: the log keeps them, and so do the reports that add it up. */
import sql from "sql-template-tag";
import type { Queryable } from "../platform/database/pool.ts";
import type { WorkspaceId } from "../platform/ids.ts";
import type { MessageSource } from "./states.ts";

/** With the deletion, in its transaction. */
export async function insertOriginName(
  tx: Queryable,
  workspaceId: WorkspaceId,
  source: Extract<MessageSource, "campaign" | "autoresponder" | "api">,
  { id, name }: { readonly id: string; readonly name: string },
): Promise<void> {
  await tx.run(sql`
    insert into origin_names (workspace_id, source, id, name) values (${workspaceId}, ${source}, ${id}, ${name})
    on conflict do nothing`);
}

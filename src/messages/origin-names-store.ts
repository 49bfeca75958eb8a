/** Names of what messages came from and is deleted: the log keeps them, and so do the reports that add it up. */
import sql from "sql-template-tag";
import type { Queryable } from "#platform/database/pool.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import type { MessageSource } from "./message/status.ts";

/** What is deleted. */
export interface DeletedOrigin {
  readonly id: string;
  readonly name: string;
  /** Of a campaign: how it ended, and when it began. */
  readonly status?: string;
  readonly sent_at?: Date | null;
}

/** With the deletion, in its transaction. */
export async function insertOriginName(
  tx: Queryable,
  workspaceId: WorkspaceId,
  source: Extract<MessageSource, "campaign" | "autoresponder" | "api">,
  origin: DeletedOrigin,
): Promise<void> {
  await tx.run(sql`
    insert into origin_names (workspace_id, source, id, name, status, sent_at)
    values (${workspaceId}, ${source}, ${origin.id}, ${origin.name}, ${origin.status ?? null},
      ${origin.sent_at ?? null}::timestamptz)
    on conflict do nothing`);
}

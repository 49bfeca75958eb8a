/** Names of deleted campaigns, autoresponders and API keys: the message log and reports still show them. */
import sql from "sql-template-tag";
import type { Queryable } from "#platform/database/pool.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import type { MessageSource } from "./message/status.ts";

/** A deleted sender of messages. */
export interface DeletedOrigin {
  readonly id: string;
  readonly name: string;
  /** Campaigns only: final status and start. */
  readonly status?: string;
  readonly sent_at?: Date | null;
}

/** Called in the transaction of the deletion. */
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

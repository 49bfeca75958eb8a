/** Changes of one waiting message on request. A message that a worker has leased is never touched: it may be with a server. */
import sql from "sql-template-tag";
import type { Queryable } from "#platform/database/pool.ts";
import type { WorkspaceId } from "#platform/ids.ts";

/** Where a message stands in the queue. */
export type QueuePlace = "waiting" | "leased" | "ended";

/**
 * Locks the queue row of a message, so that no worker leases or settles it before the transaction ends. Lock the queue
 * before the log: delivery workers do so.
 */
export async function lockInQueue(
  tx: Queryable,
  workspaceId: WorkspaceId,
  messageId: string,
): Promise<QueuePlace> {
  const row = await tx.row<{ is_leased: boolean }>(sql`
    select leased_by is not null as is_leased from delivery_queue
    where workspace_id = ${workspaceId} and message_id = ${messageId} for update`);
  if (row === undefined) return "ended";
  return row.is_leased ? "leased" : "waiting";
}

/** Makes a locked message due now. Its attempts and its end of retries stay. */
export async function makeDue(tx: Queryable, workspaceId: WorkspaceId, messageId: string): Promise<void> {
  await tx.run(sql`
    update delivery_queue set due_at = now()
    where workspace_id = ${workspaceId} and message_id = ${messageId} and leased_by is null`);
}

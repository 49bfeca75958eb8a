/** Gives messages the time back that a hold took from their retries. */
import sql from "sql-template-tag";
import type { Queryable } from "#platform/database/pool.ts";
import { asWorkspaceId, nilId } from "#platform/ids.ts";
import type { QueueKey } from "./queue-store.ts";

/** Rows of one statement, which ends well before its deadline. */
const AT_ONCE = 10_000;

/**
 * Moves the end of retries of every message in the queue by the time from `heldSince` to the begin of the transaction, or
 * from its first due time, if that is later. To be called in the transaction that ends the hold: repeated, it would move
 * them again.
 */
export async function postponeExpiry(tx: Queryable, heldSince: Date, size = AT_ONCE): Promise<void> {
  let after: QueueKey | undefined = { workspaceId: asWorkspaceId(nilId), messageId: nilId };
  while (after !== undefined) after = await postponePart(tx, heldSince, after, size);
}

/** @returns the last message of the part; undefined after the end */
function postponePart(
  tx: Queryable,
  heldSince: Date,
  after: QueueKey,
  size: number,
): Promise<QueueKey | undefined> {
  return tx.row<QueueKey>(sql`
    with part as materialized (
      select workspace_id, message_id from delivery_queue
      where (workspace_id, message_id) > (${after.workspaceId}::uuid, ${after.messageId}::uuid)
      order by workspace_id, message_id limit ${size} for update
    ), postponed as (
      update delivery_queue q
      set expires_at = q.expires_at + greatest(interval '0',
        now() - case when q.attempts = 0 then greatest(q.due_at, ${heldSince}::timestamptz) else ${heldSince}::timestamptz end)
      from part where q.workspace_id = part.workspace_id and q.message_id = part.message_id
    )
    select workspace_id as "workspaceId", message_id as "messageId" from part
    order by workspace_id desc, message_id desc limit 1`);
}

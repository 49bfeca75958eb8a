/**
 * The line of workspaces whose deliveries are to be made (table webhook_turns). A sender looks at the workspace that has
 * waited longest, leases some of its deliveries and puts it behind the others.
 *
 * What makes deliveries due inserts a request (table webhook_turn_requests) in the same transaction, and senders put the
 * workspaces of requests into the line. Transactions therefore neither wait for a sender nor for each other, and a
 * delivery that is committed is always found.
 */
import sql, { type Sql } from "sql-template-tag";
import type { Queryable } from "#platform/database/pool.ts";
import { nilId, type WorkspaceId } from "#platform/ids.ts";

/**
 * Part of a statement: requests a turn for the workspaces of deliveries.
 * @param deliveries a relation with workspace_id and next_attempt_at
 */
export function requestTurnsSql(deliveries: Sql): Sql {
  return sql`insert into webhook_turn_requests (workspace_id, due_at)
      select workspace_id, min(next_attempt_at) from ${deliveries} group by workspace_id`;
}

/** Requests a turn for a workspace, of whose deliveries some may be due. */
export async function requestTurn(db: Queryable, workspaceId: WorkspaceId, now: Date): Promise<void> {
  await db.run(sql`insert into webhook_turn_requests (workspace_id, due_at) values (${workspaceId}, ${now})`);
}

/**
 * Puts the workspaces of up to `most` requests into the line: those with a delivery that is due behind all others, unless
 * they wait there. Rows are locked in the order of workspaces, so that concurrent calls do not deadlock.
 */
export async function queueRequestedTurns(db: Queryable, now: Date, most: number): Promise<void> {
  await db.run(sql`
    with taken as materialized (
      delete from webhook_turn_requests
      where ctid = any(array(select ctid from webhook_turn_requests limit ${most} for update skip locked))
      returning workspace_id, due_at
    )
    insert into webhook_turns as t (workspace_id, turn_at, due_at)
    select workspace_id, greatest(min(due_at), ${now}), min(due_at) filter (where due_at <= ${now})
    from taken group by workspace_id order by workspace_id
    on conflict (workspace_id) do update
    set turn_at = least(t.turn_at, excluded.turn_at), due_at = least(t.due_at, excluded.due_at)`);
}

/**
 * Locks the workspaces at the front of the line, up to `most`, until the end of the transaction. Those that another sender
 * looks at are passed over.
 */
export async function takeTurns(tx: Queryable, now: Date, most: number): Promise<WorkspaceId[]> {
  const taken = await tx.rows<{ workspace_id: WorkspaceId }>(sql`
    select workspace_id from webhook_turns where turn_at <= ${now} order by turn_at limit ${most}
    for update skip locked`);
  return taken.map(({ workspace_id }) => workspace_id);
}

/**
 * Lists workspaces with deliveries that are due, will be, or are under way: up to `most`, in the order of their ids.
 * @param after they come after this one; null: from the first
 */
export async function listWaitingWorkspaces(
  db: Queryable,
  after: WorkspaceId | null,
  most: number,
): Promise<WorkspaceId[]> {
  const waiting = await db.rows<{ workspace_id: WorkspaceId }>(sql`
    select workspace_id from webhook_turns
    where turn_at < 'infinity' and workspace_id > ${after ?? nilId}
    order by workspace_id limit ${most}`);
  return waiting.map(({ workspace_id: workspaceId }) => workspaceId);
}

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
import { ScanStart } from "#platform/database/scan-start.ts";
import { nilId, type WorkspaceId } from "#platform/ids.ts";

/** Where a process begins its scans of the line: the id of a request, and a turn. */
export class LineScans {
  readonly requests: ScanStart<number>;
  readonly turns: ScanStart<Date>;

  /** @param now in milliseconds */
  constructor(now?: () => number) {
    this.requests = new ScanStart(now);
    this.turns = new ScanStart(now);
  }
}

/**
 * How far before the last request taken, and before the first turn, the next scan begins: transactions that began earlier,
 * and machines whose clocks are a little behind, insert rows there. The scans from the start find the others.
 */
const REQUESTS_BEFORE = 5_000;
const MS_BEFORE = 1_000;

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
export async function queueRequestedTurns(
  db: Queryable,
  now: Date,
  most: number,
  { requests } = new LineScans(),
): Promise<void> {
  await requests.scan(async (from = 0) => {
    const [taken] = await db.rows<{ last: number | null }>(sql`
      with taken as materialized (
        delete from webhook_turn_requests
        where ctid = any(array(
          select ctid from webhook_turn_requests where id >= ${from} order by id limit ${most} for update skip locked))
        returning workspace_id, due_at, id
      ), queued as (
        insert into webhook_turns as t (workspace_id, turn_at, due_at)
        select workspace_id, greatest(min(due_at), ${now}), min(due_at) filter (where due_at <= ${now})
        from taken group by workspace_id order by workspace_id
        on conflict (workspace_id) do update
        set turn_at = least(t.turn_at, excluded.turn_at), due_at = least(t.due_at, excluded.due_at)
      )
      select max(id) as last from taken`);
    const last = taken?.last;
    return [undefined, last == null ? undefined : Math.max(0, last - REQUESTS_BEFORE)];
  });
}

/**
 * Locks the workspaces at the front of the line, up to `most`, until the end of the transaction. Those that another sender
 * looks at are passed over.
 */
export function takeTurns(
  tx: Queryable,
  now: Date,
  most: number,
  { turns } = new LineScans(),
): Promise<WorkspaceId[]> {
  return turns.scan(async (from) => {
    // The first row itself may be locked, or be moved by another sender between the snapshot and the lock.
    const taken = await tx.rows<{ workspace_id: WorkspaceId; first_at: Date }>(sql`
      with first as materialized (
        select turn_at from webhook_turns
        where turn_at >= ${from ?? "-infinity"}::timestamptz and turn_at <= ${now} order by turn_at limit 1
      )
      select workspace_id, (select turn_at from first) as first_at from webhook_turns
      where turn_at >= (select turn_at from first) and turn_at <= ${now} order by turn_at limit ${most}
      for update skip locked`);
    const first = taken[0]?.first_at.getTime();
    const next = first === undefined ? undefined : new Date(first - MS_BEFORE);
    return [taken.map(({ workspace_id: workspaceId }) => workspaceId), next];
  });
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

/** The statement that finds lines of the queue with due messages, some hundred steps at a time. */
import sql, { type Sql } from "sql-template-tag";
import type { Queryable } from "#platform/database/pool.ts";
import { lastId, nilId } from "#platform/ids.ts";
import { LARGE_BYTES, type LeaseOrder, type Line, type LineStart, unlimitedShare } from "./lease-order.ts";

/** The part of the queue that is walked through. */
export interface Walk {
  /** The walk begins after this line; null: with the first one. */
  readonly after: Line | null;
  /** And it ends here; null: with the last one. */
  readonly until: Line | null;
  /** The walk ends when so many lines have been seen, or so many of them were open. */
  readonly mostSeen: number;
  readonly mostOpen: number;
  /** After so many open lines of one workspace the walk goes on with the next workspace. */
  readonly mostOfWorkspace: number;
  /** Workspaces of which only the first line and those after the given line are seen. */
  readonly resumed: readonly Line[];
  /** Lines with dead index entries before their starts, in order; seen although they may be empty. */
  readonly known: readonly LineStart[];
  /** Lines that are looked at besides. */
  readonly others: readonly LineStart[];
}

/** A line that is open: its first message is due, and the order (LeaseOrder) excludes neither it nor its workspace. */
export interface SeenLine extends Line {
  readonly is_open: boolean;
  /** The number of the line in the walk; 0 for the others. */
  readonly seen: number;
  /** The number of open lines of its workspace so far. */
  readonly open_of_workspace: number;
}

/**
 * Walks through the lines of a priority by a loose index scan: one step a line, whatever waits in it. From one known line the
 * walk goes to the next known line past its dead index entries, which can be many more than its messages while a backup runs.
 *
 * @returns the open lines, and the last line of the walk even if it is not open
 */
export function listOpenLines(db: Queryable, lease: LeaseOrder, walk: Walk): Promise<SeenLine[]> {
  const { priority } = lease;
  const { after, until, resumed, known, others } = walk;
  const position = after ?? { workspace_id: lastId, campaign_id: lastId };
  return db.rows(
    sql`
    with recursive known as materialized (
      select * from ${unnested(known)} with ordinality as k (workspace_id, campaign_id, starts_at, number)
    ), resumed as materialized (
      select * from unnest(
        ${resumed.map((line) => line.workspace_id)}::uuid[],
        ${resumed.map((line) => line.campaign_id)}::uuid[]) as r (workspace_id, campaign_id)
    ), step as (
      -- The last possible line of the priority before is in front of the first line.
      select ${after === null ? priority - 1 : priority}::smallint as priority,
        ${position.workspace_id}::uuid as workspace_id, ${position.campaign_id}::uuid as campaign_id,
        0 as seen, 0 as open, 0 as open_of_workspace, false as is_open, false as is_first,
        ${isClosed(lease, sql`${position.workspace_id}::uuid`)} as is_closed
      union all
      select ${priority}::smallint, next.workspace_id, next.campaign_id, step.seen + 1, step.open + state.is_open::integer,
        case when entry.is_first then 0 else step.open_of_workspace end + state.is_open::integer,
        state.is_open, entry.is_first, workspace.is_closed
      from step
      cross join lateral (
        select case when step.is_closed or step.open_of_workspace >= ${walk.mostOfWorkspace}::integer then ${lastId}::uuid
          when step.is_first then greatest(step.campaign_id,
            (select campaign_id from resumed where resumed.workspace_id = step.workspace_id))
          else step.campaign_id end as campaign_id offset 0) passed
      left join lateral (
        select workspace_id, campaign_id, starts_at from known
        where (known.workspace_id, known.campaign_id) > (step.workspace_id, passed.campaign_id) or ${after === null} and step.seen = 0
        order by number limit 1) neighbour on true
      cross join lateral (
        (select q.workspace_id, q.campaign_id, q.due_at, q.bytes from delivery_queue q
          where (q.priority, q.workspace_id, q.campaign_id) > (step.priority, step.workspace_id, passed.campaign_id)
            and (q.priority, q.workspace_id, q.campaign_id) < (${priority},
              coalesce(neighbour.workspace_id, ${until?.workspace_id ?? lastId}::uuid),
              coalesce(neighbour.campaign_id, ${until?.campaign_id ?? lastId}::uuid))
          order by q.priority, q.workspace_id, q.campaign_id, q.due_at limit 1)
        union all
        (select neighbour.workspace_id, neighbour.campaign_id, first.due_at, first.bytes
          from (select) one left join lateral (${firstOf(lease, sql`neighbour`)}) first on true
          where neighbour.workspace_id is not null)
        limit 1) next
      cross join lateral (
        select next.workspace_id <> step.workspace_id or step.seen = 0 as is_first offset 0) entry
      cross join lateral (
        select case when entry.is_first then ${isClosed(lease, sql`next.workspace_id`)} else step.is_closed end as is_closed offset 0) workspace
      cross join lateral (
        select not workspace.is_closed and ${isOpen(lease, sql`next`)} as is_open offset 0) state
      where step.seen < ${walk.mostSeen}::integer and step.open < ${walk.mostOpen}::integer
    )
    select workspace_id, campaign_id, is_open, seen, open_of_workspace from step
    where is_open or seen > 0 and seen = (select max(seen) from step)
    union all
    select other.workspace_id, other.campaign_id, true, 0, 0
    from ${unnested(others)} as other (workspace_id, campaign_id, starts_at)
    cross join lateral (
      select other.workspace_id, other.campaign_id, first.due_at, first.bytes from (${firstOf(lease, sql`other`)}) first) next
    where not ${isClosed(lease, sql`other.workspace_id`)} and ${isOpen(lease, sql`next`)}`,
    "list open lines",
  );
}

function unnested(lines: readonly LineStart[]): Sql {
  return sql`unnest(
    ${lines.map((line) => line.workspace_id)}::uuid[],
    ${lines.map((line) => line.campaign_id)}::uuid[],
    ${lines.map((line) => line.starts_at)}::timestamptz[])`;
}

/** The first message of a line since its start. */
function firstOf({ priority }: LeaseOrder, line: Sql): Sql {
  return sql`
    select q.due_at, q.bytes from delivery_queue q
    where (q.priority, q.workspace_id, q.campaign_id, q.due_at)
        >= (${priority}, ${line}.workspace_id, ${line}.campaign_id, coalesce(${line}.starts_at, '-infinity'))
      and (q.priority, q.workspace_id, q.campaign_id) <= (${priority}, ${line}.workspace_id, ${line}.campaign_id)
    order by q.priority, q.workspace_id, q.campaign_id, q.due_at limit 1`;
}

/** Whether nothing of a workspace is leased. With "exists", the planner would read all workspaces. */
function isClosed({ share = unlimitedShare }: LeaseOrder, workspaceId: Sql): Sql {
  return sql`(${workspaceId} = any (${share.full}::uuid[])
    or coalesce((select is_suspended from workspaces w where w.id = ${workspaceId}), false))`;
}

/** Whether messages of a line of an open workspace may be leased, by the first one. */
function isOpen({ halted = [], share = unlimitedShare }: LeaseOrder, first: Sql): Sql {
  return sql`coalesce(${first}.due_at <= now() and ${first}.campaign_id <> all (${halted}::uuid[])
    -- All messages of a campaign have the same size.
    and not (${first}.campaign_id <> ${nilId} and ${first}.bytes > ${LARGE_BYTES}
      and ${first}.workspace_id = any (${share.crowded}::uuid[])), false)`;
}

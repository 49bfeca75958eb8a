/**
 * The end of leases, hundreds at a time. A worker that dies simply lets its rows fall due again, and one that wakes up
 * too late holds an old number, with which nothing can be settled.
 */
import sql from "sql-template-tag";
import { integerArray, uuidArray } from "#platform/database/array-values.ts";
import type { Queryable } from "#platform/database/pool.ts";
import type { WorkspaceId } from "#platform/ids.ts";

/** Which lease of which message; an older number cannot do anything any more. */
export interface Lease {
  readonly workspaceId: WorkspaceId;
  readonly messageId: string;
  readonly leaseNumber: number;
}

/**
 * Moves the deadline of leases, a worker's heartbeat, and says which of them are still its own (lease keys). Leases
 * are named one by one: what was leased to a worker without its knowing (the answer was lost) has to lapse.
 */
export async function extendLeases(
  db: Queryable,
  workerId: string,
  leases: readonly Lease[],
  seconds: number,
): Promise<Set<string>> {
  if (leases.length === 0) return new Set();
  // A row that is being settled is locked and needs no extension; waiting for it could be a deadlock.
  const extended = await db.rows<Lease>(sql`
    with mine as materialized (
      select q.workspace_id, q.message_id
      from unnest(
        ${leases.map((lease) => lease.workspaceId)}::uuid[], ${leases.map((lease) => lease.messageId)}::uuid[],
        ${leases.map((lease) => lease.leaseNumber)}::integer[]) as held (workspace_id, message_id, lease_number)
      join delivery_queue q on q.workspace_id = held.workspace_id and q.message_id = held.message_id
        and q.lease_number = held.lease_number and q.leased_by = ${workerId}
      for update of q skip locked
    )
    update delivery_queue q set due_at = now() + make_interval(secs => ${seconds})
    from mine where q.workspace_id = mine.workspace_id and q.message_id = mine.message_id
    returning q.message_id as "messageId", q.lease_number as "leaseNumber"`);
  return new Set(extended.map(leaseKey));
}

/** What becomes of a lease: the message leaves the queue, or waits for its next attempt. */
export interface Settlement extends Lease {
  readonly attempts: number;
  /** null: done, take it out of the queue. By the worker's clock, as is `decidedAt`: the database adds the difference to its own. */
  readonly dueAt: Date | null;
  /** When dueAt was decided on; missing in journals of earlier versions, whose dueAt is taken as it is. */
  readonly decidedAt?: Date;
  /** Set where the message is put off with news: the moment that its first attempt began, which stays once it is set. */
  readonly firstAttemptAt?: Date | null;
  /** The address of ours it should leave from next. */
  readonly sourceIp?: string | null;
  /** Set where it waits for that address: under which routing it was given (LeasedMessage.routing_version). */
  readonly routingVersion?: number | null;
  /** The receiver has it: a fact, whoever holds the lease by now. */
  readonly isDelivered: boolean;
}

/** Tells the leases of one message apart, for sets and maps. */
export function leaseKey({ messageId, leaseNumber }: Lease): string {
  return `${messageId} ${leaseNumber}`;
}

/**
 * Settles leases that are still the newest of their message, and says which those were (lease keys). A settlement that
 * comes too late, or a second time, touches nothing; but a delivery that comes too late still ends the message, so that
 * the next holder of the lease does not send it again. What would wait for an address under a routing that has changed
 * meanwhile is due at once instead. When a message is due is a matter of the database's clock, by which it is leased: a
 * worker whose clock is wrong neither tries again too soon nor too late.
 */
export async function settleLeases(tx: Queryable, settlements: readonly Settlement[]): Promise<Set<string>> {
  if (settlements.length === 0) return new Set();
  const column = <Value>(read: (settlement: Settlement) => Value) => settlements.map(read);
  const settled = await tx.rows<Lease>(
    sql`
    with settlement as materialized (
      select * from unnest(
        ${uuidArray(column((one) => one.workspaceId))}::uuid[], ${uuidArray(column((one) => one.messageId))}::uuid[],
        ${integerArray(column((one) => one.leaseNumber))}::integer[], ${column((one) => one.attempts)}::smallint[],
        ${column((one) => one.dueAt)}::timestamptz[], ${column((one) => one.isDelivered)}::boolean[],
        ${column((one) => one.sourceIp ?? null)}::inet[], ${column((one) => one.routingVersion ?? null)}::integer[],
        ${column((one) => one.firstAttemptAt ?? null)}::timestamptz[],
        ${column((one) => (one.dueAt && one.decidedAt ? one.dueAt.getTime() - one.decidedAt.getTime() : null))}::float8[])
        as s (workspace_id, message_id, lease_number, attempts, due_at, is_delivered, source_ip, routing_version, first_attempt_at, wait_ms)
    ), routing as materialized (
      -- A change under way is waited for, and one that begins now finds this message put back (releaseHeldBack).
      select workspace_id, version from routed_workspaces
      where workspace_id in (select workspace_id from settlement where routing_version is not null) for share
    ), back as (
      select s.*, s.routing_version is not null and r.version is distinct from s.routing_version as is_outdated
      from settlement s left join routing r using (workspace_id) where s.due_at is not null
    ), done as (
      delete from delivery_queue q using settlement s
      where s.due_at is null and q.workspace_id = s.workspace_id and q.message_id = s.message_id
        and (s.is_delivered or (q.lease_number = s.lease_number and q.leased_by is not null))
      returning s.message_id, s.lease_number
    ), waiting as (
      update delivery_queue q
      set due_at = case when is_outdated then now()
          else coalesce(now() + make_interval(secs => wait_ms / 1000), back.due_at) end,
        source_ip = case when not is_outdated then back.source_ip end, attempts = back.attempts, leased_by = null,
        first_attempt_at = coalesce(q.first_attempt_at, back.first_attempt_at)
      from back
      where q.workspace_id = back.workspace_id and q.message_id = back.message_id
        and q.lease_number = back.lease_number and q.leased_by is not null
      returning back.message_id, back.lease_number
    )
    select message_id as "messageId", lease_number as "leaseNumber" from done
    union all select message_id, lease_number from waiting`,
    "settle leases",
  );
  return new Set(settled.map(leaseKey));
}

/** Keeps what a dead worker held from lapsing, while its journal is replayed. */
export function holdLeasesOf(db: Queryable, workerId: string, seconds: number): Promise<number> {
  return db.run(sql`
    with held as materialized (
      select workspace_id, message_id from delivery_queue where leased_by = ${workerId} for update skip locked
    )
    update delivery_queue q set due_at = greatest(due_at, now() + make_interval(secs => ${seconds}))
    from held where q.workspace_id = held.workspace_id and q.message_id = held.message_id`);
}

/** Gives back everything a worker holds: at its graceful stop, and after its death once its journal is replayed. */
export function releaseLeasesOf(db: Queryable, workerId: string): Promise<number> {
  return db.run(
    sql`update delivery_queue set due_at = now(), leased_by = null where leased_by = ${workerId}`,
  );
}

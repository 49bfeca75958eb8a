/**
 * Statements that extend and settle leases, hundreds at a time. The rows of a worker that dies fall due again, and a worker that
 * resumes too late holds old lease numbers, which settle nothing.
 */
import sql from "sql-template-tag";
import { integerArray, uuidArray } from "#platform/database/binary-arrays.ts";
import type { Queryable } from "#platform/database/pool.ts";
import type { WorkspaceId } from "#platform/ids.ts";

/** One lease of one message. Only the newest lease number is valid. */
export interface Lease {
  readonly workspaceId: WorkspaceId;
  readonly messageId: string;
  readonly leaseNumber: number;
}

/**
 * Moves the deadline of leases, for a worker's heartbeat. Leases are named one by one: rows that were leased without the worker
 * knowing (the answer was lost) are not its (releaseUnknownLeases).
 *
 * @returns keys (leaseKey) of the leases that the worker still has
 */
export async function extendLeases(
  db: Queryable,
  workerId: string,
  leases: readonly Lease[],
  seconds: number,
): Promise<Set<string>> {
  if (leases.length === 0) return new Set();
  // A row that is being settled is locked and needs no extension. Waiting for it could cause a deadlock.
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

/** How a lease ends: the message leaves the queue, or waits until it is due. */
export interface Settlement extends Lease {
  readonly attempts: number;
  /** Null: the message leaves the queue. By the worker's clock, as is `decidedAt`: the database adds the difference to its own time. */
  readonly dueAt: Date | null;
  /** When dueAt was computed. */
  readonly decidedAt: Date;
  /** Set when the message is deferred with an event: when its first attempt began. It never changes once it is stored. */
  readonly firstAttemptAt?: Date | null;
  /** The source address of the next attempt. */
  readonly sourceIp?: string | null;
  /** Set when the message waits for that address: the routing version it was chosen by (LeasedMessage.routing_version). */
  readonly routingVersion?: number | null;
  /** True: the message leaves the queue even when another worker holds the lease by now. */
  readonly isDelivered: boolean;
}

/** A key for sets and maps. */
export function leaseKey({ messageId, leaseNumber }: Lease): string {
  return `${messageId} ${leaseNumber}`;
}

/**
 * Settles leases that are still the newest of their message. A settlement that comes too late, or twice, changes nothing; but a
 * late delivery removes the message, so that the present holder of the lease does not send it again. A message that would wait
 * for an address of an outdated routing is due at once instead. Waits are added to the database's time, by which messages are
 * leased, so a worker whose clock is wrong retries neither too early nor too late.
 *
 * @returns keys (leaseKey) of the leases that were settled
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
        ${column((one) => one.dueAt && one.dueAt.getTime() - one.decidedAt.getTime())}::float8[])
        as s (workspace_id, message_id, lease_number, attempts, due_at, is_delivered, source_ip, routing_version, first_attempt_at, wait_ms)
    ), routing as materialized (
      -- Waits for a change under way; a change that begins later finds this message settled (releaseHeld).
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
      set due_at = case when is_outdated then now() else now() + make_interval(secs => wait_ms / 1000) end,
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

/** Extends the leases of a dead worker while its journal is replayed. @returns how many */
export function holdLeasesOf(db: Queryable, workerId: string, seconds: number): Promise<number> {
  return db.run(sql`
    with held as materialized (
      select workspace_id, message_id from delivery_queue where leased_by = ${workerId} for update skip locked
    )
    update delivery_queue q set due_at = greatest(due_at, now() + make_interval(secs => ${seconds}))
    from held where q.workspace_id = held.workspace_id and q.message_id = held.message_id`);
}

/** Releases all leases of a worker: at its clean stop, or after its journal was replayed. @returns how many */
export function releaseLeasesOf(db: Queryable, workerId: string): Promise<number> {
  return db.run(
    sql`update delivery_queue set due_at = now(), leased_by = null where leased_by = ${workerId}`,
  );
}

/**
 * Releases the leases of a worker on messages other than the `known` ones: those of a statement that was committed and whose
 * answer was lost, so that nothing of them can have been sent. Not to be called while the worker waits for a lease. A message
 * of which the worker knows an older lease is left alone. @returns how many
 */
export function releaseUnknownLeases(
  db: Queryable,
  workerId: string,
  known: readonly Lease[],
): Promise<number> {
  return db.run(sql`
    update delivery_queue set due_at = now(), leased_by = null
    where leased_by = ${workerId}
      and (workspace_id, message_id) not in (
        select * from unnest(
          ${uuidArray(known.map((lease) => lease.workspaceId))}::uuid[],
          ${uuidArray(known.map((lease) => lease.messageId))}::uuid[]))`);
}

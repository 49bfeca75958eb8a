/**
 * Leases of deliveries (table webhook_leases). A lease is the right to make one attempt; it is committed before the
 * attempt, and another sender leases the delivery after the deadline. Its row is removed with the result.
 */
import sql from "sql-template-tag";
import type { Queryable } from "#platform/database/pool.ts";
import { newId, type WorkspaceId } from "#platform/ids.ts";
import { type LineScans, takeTurns } from "./turns-store.ts";

/** The right to make one attempt. A result under the id of an earlier lease is discarded. */
export interface LeasedDelivery {
  readonly workspace_id: WorkspaceId;
  readonly webhook_id: string;
  readonly id: string;
  readonly lease_id: string;
  /** Attempts since the first one or the last replay. */
  readonly tries: number;
  /** JSON text. */
  readonly body: string;
  readonly url: string;
  readonly secret: Buffer;
  readonly previous_secret: Buffer | null;
  readonly previous_secret_until: Date | null;
}

/** Limits of leased deliveries: `most` for this call, the others for all machines together. */
export interface LeaseLimits {
  readonly now: Date;
  readonly until: Date;
  readonly most: number;
  readonly mostOfWebhook: number;
  readonly mostOfWorkspace: number;
  /** Webhooks whose receivers did not answer the last attempt. One attempt at a time shows whether they do again. */
  readonly silent: readonly string[];
  /** Attempts of all these webhooks together, for this call. */
  readonly mostOfSilent: number;
  /** Webhooks whose receivers answer, but slowly. */
  readonly slow: readonly string[];
  /** Attempts of all these webhooks together, for this call. */
  readonly mostOfSlow: number;
  /** Where the caller's scans of the line begin; without it at the start. */
  readonly scans?: LineScans;
}

/** The turns of a sender that stops in the middle of a lease (a frozen machine) are free for the others after this time. */
const FROZEN_MS = 5_000;

/** When a workspace is looked at again of whose due deliveries none may be leased because of the limits. */
const FULL_SECONDS = 0.02;
/**
 * The same if all of them are of silent or slow webhooks: an attempt takes long, and each look takes a share of the lease
 * from others. With many such webhooks the time is longer, so that all of them together cause no more looks than this.
 */
const HELD_BACK_SECONDS = 0.5;
const MOST_HELD_BACK_LOOKS_PER_SECOND = 200;
/** The same for a suspended workspace: its deliveries continue at most this time after the end of the suspension. */
const SUSPENDED_SECONDS = 60;

/**
 * Leases due deliveries of the workspaces at the front of the line, the same number for each, and puts these workspaces
 * behind the others. The cost depends on `most`, not on how many deliveries, webhooks or workspaces wait.
 * @param tx a transaction, which holds the turns until its end: the limits count what other senders have leased
 */
export async function leaseDeliveries(tx: Queryable, limits: LeaseLimits): Promise<LeasedDelivery[]> {
  const { now, until, silent, slow } = limits;
  await tx.run(sql`select set_config('idle_in_transaction_session_timeout', ${FROZEN_MS}::text, true)`);
  const workspaceIds = await takeTurns(tx, now, limits.most, limits.scans);
  if (workspaceIds.length === 0) return [];
  const share = Math.floor(limits.most / workspaceIds.length);
  const leaseId = newId();
  const heldBackSeconds = Math.max(
    HELD_BACK_SECONDS,
    (silent.length + slow.length) / MOST_HELD_BACK_LOOKS_PER_SECOND,
  );
  // A statement after that of takeTurns, so that it sees what was committed before the turns were locked. Tables are read
  // in lateral parts with an offset or a limit, or by the ids of the workspaces: otherwise PostgreSQL would join whole
  // tables, or all leases of a receiver, with the dead ones that a long transaction keeps. While the turns are locked, a
  // lease that is there has expired.
  return tx.rows(sql`
    with taken as materialized (
      select s.id as workspace_id, s.is_suspended from workspaces s where s.id = any(${workspaceIds}::uuid[])
    ), under_way as materialized (
      select l.workspace_id, l.webhook_id, count(*)::int as count, min(l.leased_until) as until
      from taken cross join lateral (
        select * from webhook_leases where workspace_id = taken.workspace_id and leased_until > ${now} offset 0) l
      group by l.workspace_id, l.webhook_id
    ), under_way_in as materialized (
      select workspace_id, sum(count)::int as count, min(until) as until from under_way group by workspace_id
    ), receivers as materialized (
      select w.workspace_id, w.id as webhook_id, w.is_silent, w.is_slow,
        least(greatest(case when w.is_silent then 1 else ${limits.mostOfWebhook}::integer end
          - coalesce(u.count, 0), 0), ${share}) as most
      from taken cross join lateral (
        select workspace_id, id, id = any(${[...silent]}::uuid[]) as is_silent,
          id = any(${[...slow]}::uuid[]) as is_slow from webhooks
        where workspace_id = taken.workspace_id and is_active and not taken.is_suspended offset 0) w
      left join under_way u on u.workspace_id = w.workspace_id and u.webhook_id = w.id
    ), first as materialized (
      select r.workspace_id, r.webhook_id, r.is_silent, r.is_slow, d.id, d.next_attempt_at,
        d.place <= r.most and d.next_attempt_at <= ${now} as is_ready
      from receivers r cross join lateral (
        select id, next_attempt_at, row_number() over (order by next_attempt_at) as place from (
          select id, next_attempt_at from webhook_deliveries
          where workspace_id = r.workspace_id and webhook_id = r.webhook_id and status = 'pending'
            and not exists (select from webhook_leases l where l.workspace_id = r.workspace_id
              and l.webhook_id = r.webhook_id and l.delivery_id = webhook_deliveries.id and l.leased_until > ${now}
              offset 0)
          order by next_attempt_at limit r.most + 1) head) d
    ), waiting as materialized (
      select *, is_ready and (not (is_silent or is_slow)
        or row_number() over (partition by is_ready, is_silent, is_slow order by random())
          <= case when is_silent then ${limits.mostOfSilent}::integer else ${limits.mostOfSlow}::integer end) as may_start
      from first
    ), ranked as materialized (
      select w.*, may_start and row_number() over (partition by w.workspace_id, may_start order by next_attempt_at, id)
        <= least(${share}, ${limits.mostOfWorkspace} - coalesce(u.count, 0)) as is_chosen
      from waiting w left join under_way_in u on u.workspace_id = w.workspace_id
    ), leased as (
      insert into webhook_leases (workspace_id, webhook_id, delivery_id, lease_id, leased_until)
      select workspace_id, webhook_id, id, ${leaseId}, ${until} from ranked where is_chosen
      on conflict (workspace_id, webhook_id, delivery_id)
      do update set lease_id = excluded.lease_id, leased_until = excluded.leased_until
      returning workspace_id, webhook_id, delivery_id
    ), found as (
      select workspace_id, bool_or(is_chosen) as has_chosen, min(next_attempt_at) filter (where not is_chosen) as next_at,
        bool_and(is_silent or is_slow) filter (where not is_chosen and next_attempt_at <= ${now}) as leaves_only_held_back,
        min(next_attempt_at) filter (where not (is_silent or is_slow or next_attempt_at <= ${now})) as next_quick_at
      from ranked group by workspace_id
    ), moved as (
      update webhook_turns t
      set turn_at = case
          when taken.is_suspended then ${now}::timestamptz + make_interval(secs => ${SUSPENDED_SECONDS})
          when f.leaves_only_held_back
            then least(${now}::timestamptz + make_interval(secs => ${heldBackSeconds}), f.next_quick_at)
          when f.next_at <= ${now} and f.has_chosen then ${now}
          when f.next_at <= ${now} then ${now}::timestamptz + make_interval(secs => ${FULL_SECONDS})
          else coalesce(least(f.next_at, u.until, case when f.has_chosen then ${until}::timestamptz end), 'infinity') end,
        due_at = case when f.next_at <= ${now} then f.next_at end
      from taken left join found f on f.workspace_id = taken.workspace_id
      left join under_way_in u on u.workspace_id = taken.workspace_id
      where t.workspace_id = any(${workspaceIds}::uuid[]) and t.workspace_id = taken.workspace_id
    )
    select l.workspace_id, l.webhook_id, l.delivery_id as id, ${leaseId}::uuid as lease_id, d.tries, d.body, w.url, w.secret,
      w.previous_secret, w.previous_secret_until
    from leased l
    cross join lateral (
      select url, secret, previous_secret, previous_secret_until from webhooks
      where workspace_id = l.workspace_id and id = l.webhook_id limit 1) w
    cross join lateral (
      select tries, body::text as body from webhook_deliveries
      where workspace_id = l.workspace_id and webhook_id = l.webhook_id and id = l.delivery_id limit 1) d`);
}

/** Removes leases that expired before this time: of deliveries that were removed, or whose webhook is switched off. */
export async function removeExpiredLeases(db: Queryable, before: Date): Promise<void> {
  await db.run(sql`delete from webhook_leases where leased_until < ${before}`);
}

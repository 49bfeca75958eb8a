/** SQL of billing accounts. A transaction that changes an account, its meter or its ledger locks its row first. */
import sql from "sql-template-tag";
import type { Queryable } from "#platform/database/pool.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import type { Account, Subscription } from "./plan-of-account.ts";

/**
 * Created with the workspace.
 * @returns false when the account exists or the workspace does not
 */
export async function insertAccount(tx: Queryable, workspaceId: WorkspaceId): Promise<boolean> {
  const made = await tx.run(sql`
    insert into billing_accounts (workspace_id) select id from workspaces where id = ${workspaceId}
    on conflict do nothing`);
  return made === 1;
}

/** Locks the account until the transaction ends; creates it when it is missing. */
export async function lockAccount(tx: Queryable, workspaceId: WorkspaceId): Promise<void> {
  const lock = () => tx.row(sql`select from billing_accounts where workspace_id = ${workspaceId} for update`);
  if ((await lock()) !== undefined) return;
  await insertAccount(tx, workspaceId);
  await lock();
}

/**
 * Locks those of the accounts that no other transaction holds, until the transaction ends; creates those that are missing,
 * which waits for another transaction only if it creates the same.
 * @returns the workspaces of the locked accounts
 */
export async function lockFreeAccounts(
  tx: Queryable,
  workspaceIds: readonly WorkspaceId[],
): Promise<WorkspaceId[]> {
  const ids = sql`${[...workspaceIds]}::uuid[]`;
  const locked = await tx.rows<{ workspace_id: WorkspaceId }>(sql`
    with made as (
      insert into billing_accounts (workspace_id)
      select id from workspaces w
      where id = any(${ids}) and not exists (select from billing_accounts a where a.workspace_id = w.id)
      on conflict do nothing returning workspace_id
    ), free as (
      select workspace_id from billing_accounts where workspace_id = any(${ids}) for update skip locked
    )
    select workspace_id from made union all select workspace_id from free`);
  return locked.map(({ workspace_id: workspaceId }) => workspaceId);
}

/** As lockAccount, without waiting: false when another transaction holds the lock. */
export async function tryLockAccount(tx: Queryable, workspaceId: WorkspaceId): Promise<boolean> {
  const locked = await tx.row(sql`
    select from billing_accounts where workspace_id = ${workspaceId} for update skip locked`);
  if (locked !== undefined) return true;
  return insertAccount(tx, workspaceId);
}

/** @returns undefined when the workspace does not exist */
export async function findAccount(db: Queryable, workspaceId: WorkspaceId): Promise<Account | undefined> {
  return (await listAccounts(db, [workspaceId])).get(workspaceId);
}

/** The accounts of several workspaces; none for a workspace that does not exist. */
export async function listAccounts(
  db: Queryable,
  workspaceIds: readonly WorkspaceId[],
): Promise<Map<WorkspaceId, Account>> {
  type Row = Omit<Account, "subscription"> &
    Subscription & { readonly workspace_id: WorkspaceId; readonly is_subscribed: boolean };
  const rows = await db.rows<Row>(sql`
    select w.id as workspace_id, coalesce(a.balance, 0)::numeric(20, 6) as balance, coalesce(a.is_prepaid, false) as is_prepaid,
      w.plan, least(w.hourly_cap, w.own_hourly_cap) as hourly_cap, s.workspace_id is not null as is_subscribed, s.plan_id,
      s.billing_interval, s.status, s.anchor, s.current_period_start, s.current_period_end, s.cancel_at_period_end,
      s.past_due_since, s.retry_at
    from workspaces w left join billing_accounts a on a.workspace_id = w.id
      left join subscriptions s on s.workspace_id = w.id
    where w.id = any(${[...workspaceIds]}::uuid[])`);
  return new Map(
    rows.map(({ workspace_id, balance, is_prepaid, plan, hourly_cap, is_subscribed, ...subscription }) => [
      workspace_id,
      { balance, is_prepaid, plan, hourly_cap, subscription: is_subscribed ? subscription : null },
    ]),
  );
}

/** How far a workspace is from its limits, until a time: emails, and bytes of message contents; null is no limit. */
export interface Headroom {
  readonly workspaceId: WorkspaceId;
  readonly emails: number | null;
  readonly contents: number | null;
  readonly until: Date;
}

/** Stores how far workspaces are from their limits, so that the next batch need not read the meter (meter.ts). */
export async function updateHeadrooms(tx: Queryable, headrooms: readonly Headroom[]): Promise<void> {
  await tx.run(sql`
    update billing_accounts a
    set email_headroom = h.emails, content_headroom = h.contents, headroom_until = h.until
    from unnest(${headrooms.map(({ workspaceId }) => workspaceId)}::uuid[], ${headrooms.map(({ emails }) => emails)}::bigint[],
        ${headrooms.map(({ contents }) => contents)}::bigint[], ${headrooms.map(({ until }) => until)}::timestamptz[])
      as h (workspace_id, emails, contents, until)
    where a.workspace_id = h.workspace_id
      and (a.email_headroom, a.content_headroom, a.headroom_until) is distinct from (h.emails, h.contents, h.until)`);
}

/** After its first top-up a workspace pays for usage beyond its allowances. */
export async function markPrepaid(tx: Queryable, workspaceId: WorkspaceId): Promise<void> {
  await tx.run(sql`update billing_accounts set is_prepaid = true where workspace_id = ${workspaceId}`);
}

/** Discards the stored headroom, because the operator changed the plan or the cap. */
export async function forgetHeadroom(tx: Queryable, workspaceId: WorkspaceId): Promise<void> {
  await tx.run(sql`
    update billing_accounts set headroom_until = '-infinity' where workspace_id = ${workspaceId}`);
}

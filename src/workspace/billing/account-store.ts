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

/** As lockAccount, without waiting: false when another transaction holds the lock. */
export async function tryLockAccount(tx: Queryable, workspaceId: WorkspaceId): Promise<boolean> {
  const locked = await tx.row(sql`
    select from billing_accounts where workspace_id = ${workspaceId} for update skip locked`);
  if (locked !== undefined) return true;
  return insertAccount(tx, workspaceId);
}

/** @returns undefined when the workspace does not exist */
export async function findAccount(db: Queryable, workspaceId: WorkspaceId): Promise<Account | undefined> {
  const row = await db.row<Omit<Account, "subscription"> & Subscription & { is_subscribed: boolean }>(sql`
    select coalesce(a.balance, 0)::numeric(20, 6) as balance, coalesce(a.is_prepaid, false) as is_prepaid, w.plan,
      least(w.hourly_cap, w.own_hourly_cap) as hourly_cap, s.workspace_id is not null as is_subscribed, s.plan_id, s.billing_interval, s.status, s.anchor,
      s.current_period_start, s.current_period_end, s.cancel_at_period_end, s.past_due_since, s.retry_at
    from workspaces w left join billing_accounts a on a.workspace_id = w.id
      left join subscriptions s on s.workspace_id = w.id
    where w.id = ${workspaceId}`);
  if (row === undefined) return undefined;
  const { balance, is_prepaid, plan, hourly_cap, is_subscribed, ...subscription } = row;
  return { balance, is_prepaid, plan, hourly_cap, subscription: is_subscribed ? subscription : null };
}

/**
 * Stores how far the workspace is from its limits, so that the next batch need not read the meter (meter.ts): emails,
 * and bytes of message contents; null is no limit.
 */
export async function updateHeadroom(
  tx: Queryable,
  workspaceId: WorkspaceId,
  { emails, contents }: { readonly emails: number | null; readonly contents: number | null },
  until: Date,
): Promise<void> {
  await tx.run(sql`
    update billing_accounts
    set email_headroom = ${emails}, content_headroom = ${contents}, headroom_until = ${until}
    where workspace_id = ${workspaceId}
      and (email_headroom, content_headroom, headroom_until)
        is distinct from (${emails}::bigint, ${contents}::bigint, ${until}::timestamptz)`);
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

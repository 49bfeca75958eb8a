/** The SQL of accounts: who changes anything about one, its meter or its ledger holds its row. */
import sql from "sql-template-tag";
import type { Queryable } from "#platform/database/pool.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import type { Account, Subscription } from "./account.ts";

/** Made with the workspace. @returns whether there was none */
export async function insertAccount(tx: Queryable, workspaceId: WorkspaceId): Promise<boolean> {
  const made = await tx.run(sql`
    insert into billing_accounts (workspace_id) select id from workspaces where id = ${workspaceId}
    on conflict do nothing`);
  return made === 1;
}

/** Nobody else reads the meter to write it before this transaction ends. */
export async function lockAccount(tx: Queryable, workspaceId: WorkspaceId): Promise<void> {
  const lock = () => tx.row(sql`select from billing_accounts where workspace_id = ${workspaceId} for update`);
  if ((await lock()) !== undefined) return;
  await insertAccount(tx, workspaceId);
  await lock();
}

/** As lockAccount; false, and nothing done, when somebody else holds it. */
export async function tryLockAccount(tx: Queryable, workspaceId: WorkspaceId): Promise<boolean> {
  const locked = await tx.row(sql`
    select from billing_accounts where workspace_id = ${workspaceId} for update skip locked`);
  if (locked !== undefined) return true;
  return insertAccount(tx, workspaceId);
}

/** @returns undefined for a workspace that is not there */
export async function findAccount(db: Queryable, workspaceId: WorkspaceId): Promise<Account | undefined> {
  const row = await db.row<Omit<Account, "subscription"> & Subscription & { is_subscribed: boolean }>(sql`
    select coalesce(a.balance, 0)::numeric(20, 6) as balance, coalesce(a.is_prepaid, false) as is_prepaid, w.plan,
      w.hourly_cap, s.workspace_id is not null as is_subscribed, s.plan_id, s.billing_interval, s.status, s.anchor,
      s.current_period_start, s.current_period_end, s.cancel_at_period_end, s.past_due_since, s.retry_at
    from workspaces w left join billing_accounts a on a.workspace_id = w.id
      left join subscriptions s on s.workspace_id = w.id
    where w.id = ${workspaceId}`);
  if (row === undefined) return undefined;
  const { balance, is_prepaid, plan, hourly_cap, is_subscribed, ...subscription } = row;
  return { balance, is_prepaid, plan, hourly_cap, subscription: is_subscribed ? subscription : null };
}

/** What the next batch may count on without reading the meter (meter.ts): emails, and bytes of contents. */
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

/** From its first top-up on a workspace pays for what goes beyond its allowances. */
export async function markPrepaid(tx: Queryable, workspaceId: WorkspaceId): Promise<void> {
  await tx.run(sql`update billing_accounts set is_prepaid = true where workspace_id = ${workspaceId}`);
}

/** What was said of the headroom holds no more: the operator changed plan or cap. */
export async function forgetHeadroom(tx: Queryable, workspaceId: WorkspaceId): Promise<void> {
  await tx.run(sql`
    update billing_accounts set headroom_until = '-infinity' where workspace_id = ${workspaceId}`);
}

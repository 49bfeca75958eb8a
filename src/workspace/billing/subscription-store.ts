/** SQL of subscriptions. A transaction that changes one has locked the account. */
import sql from "sql-template-tag";
import type { Queryable } from "#platform/database/pool.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import type { PlanName } from "#workspace/workspaces/workspace.ts";
import type { Subscription } from "./plan-of-account.ts";

/** Inserts or replaces the workspace's one subscription. */
export async function putSubscription(
  tx: Queryable,
  workspaceId: WorkspaceId,
  subscription: Subscription,
  now: Date,
): Promise<void> {
  const s = subscription;
  await tx.run(sql`
    insert into subscriptions (workspace_id, plan_id, billing_interval, status, anchor, current_period_start,
      current_period_end, cancel_at_period_end, past_due_since, retry_at, created_at, updated_at)
    values (${workspaceId}, ${s.plan_id}, ${s.billing_interval}, ${s.status}, ${s.anchor}, ${s.current_period_start},
      ${s.current_period_end}, ${s.cancel_at_period_end}, ${s.past_due_since}, ${s.retry_at}, ${now}, ${now})
    on conflict (workspace_id) do update set plan_id = excluded.plan_id, billing_interval = excluded.billing_interval,
      status = excluded.status, anchor = excluded.anchor, current_period_start = excluded.current_period_start,
      current_period_end = excluded.current_period_end, cancel_at_period_end = excluded.cancel_at_period_end,
      past_due_since = excluded.past_due_since, retry_at = excluded.retry_at, updated_at = excluded.updated_at`);
}

export async function removeSubscription(tx: Queryable, workspaceId: WorkspaceId): Promise<void> {
  await tx.run(sql`delete from subscriptions where workspace_id = ${workspaceId}`);
}

/** Subscriptions of several workspaces. */
export async function listSubscriptions(
  db: Queryable,
  workspaceIds: readonly WorkspaceId[],
): Promise<Map<WorkspaceId, Subscription>> {
  const rows = await db.rows<Subscription & { workspace_id: WorkspaceId }>(sql`
    select workspace_id, plan_id, billing_interval, status, anchor, current_period_start, current_period_end,
      cancel_at_period_end, past_due_since, retry_at
    from subscriptions where workspace_id = any(${[...workspaceIds]}::uuid[])`);
  return new Map(rows.map((row) => [row.workspace_id, row]));
}

/** How many workspaces have each plan in force (plan-of-account.ts), most first, and the name of one of them. */
export function countPlansInForce(
  db: Queryable,
  now: Date,
): Promise<{ readonly plan: PlanName; readonly workspaces: number; readonly name: string }[]> {
  return db.rows(sql`
    select plan, count(*)::int as workspaces, min(name) as name
    from (
      select w.name, case
        when s.status is null or s.status = 'suspended'
          or s.cancel_at_period_end and s.current_period_end <= ${now} then w.plan
        else s.plan_id end as plan
      from workspaces w left join subscriptions s on s.workspace_id = w.id) in_force
    group by plan order by workspaces desc, plan`);
}

/** Workspaces whose subscription has an ended period or a renewal to retry, longest due first. */
export async function listDueWorkspaces(db: Queryable, now: Date, most: number): Promise<WorkspaceId[]> {
  const rows = await db.rows<{ workspace_id: WorkspaceId }>(sql`
    select workspace_id from subscriptions
    where current_period_end <= ${now} and status <> 'suspended' or retry_at <= ${now}
    order by least(current_period_end, retry_at) limit ${most}`);
  return rows.map(({ workspace_id }) => workspace_id);
}

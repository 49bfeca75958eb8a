/** SQL of the operator's lists, and of credits. They read all workspaces on purpose: only operators may call them. */
import sql, { empty, type Sql } from "sql-template-tag";
import type { Page } from "#platform/database/page.ts";
import type { Queryable } from "#platform/database/pool.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import { installationWorkspaceId } from "#workspace/workspaces/store.ts";
import type { Workspace } from "#workspace/workspaces/workspace.ts";

export interface WorkspaceFigures extends Workspace {
  /** USD. */
  readonly balance: string;
  readonly teammate_count: number;
  /** Emails of the billing month that have been counted. */
  readonly emails_used: number;
}

export interface WorkspaceFilter {
  readonly search: string | undefined;
  readonly is_suspended: boolean | undefined;
}

const figures = (now: Date) => sql`
  select w.*, coalesce(a.balance, 0)::text as balance,
    (select count(*) from workspace_members m where m.workspace_id = w.id) as teammate_count,
    coalesce((select used from meters m
      where m.workspace_id = w.id and m.kind = 'email' and m.period_start > ${now}::timestamptz - interval '1 month'
      order by period_start desc limit 1), 0) as emails_used
  from workspaces w left join billing_accounts a on a.workspace_id = w.id`;

/** Newest first. */
export function listWorkspaceFigures(
  db: Queryable,
  filter: WorkspaceFilter,
  { limit, offset, after }: Page,
  now: Date,
): Promise<WorkspaceFigures[]> {
  return db.rows(sql`
    ${figures(now)} where ${matching(filter)} ${after === undefined ? empty : sql`and w.id < ${after}`}
    order by w.id desc limit ${limit} offset ${offset}`);
}

export async function countWorkspaces(db: Queryable, filter: WorkspaceFilter): Promise<number> {
  const row = await db.row<{ total: number }>(sql`
    select count(*) as total from workspaces w where ${matching(filter)}`);
  return row?.total ?? 0;
}

export function findWorkspaceFigures(
  db: Queryable,
  workspaceId: WorkspaceId,
  now: Date,
): Promise<WorkspaceFigures | undefined> {
  return db.row(sql`${figures(now)} where w.id = ${workspaceId} and ${isOfTenant}`);
}

/** Operators cannot change the workspace of the mails about accounts. */
const isOfTenant = sql`w.id <> ${installationWorkspaceId}`;

/** Part of the name, the id, or the address of a member. */
function matching({ search, is_suspended }: WorkspaceFilter): Sql {
  const found =
    search === undefined
      ? isOfTenant
      : sql`${isOfTenant} and (strpos(lower(w.name), lower(${search})) > 0 or w.id::text = lower(${search}) or w.id in (
          select m.workspace_id from workspace_members m join users u on u.id = m.user_id
          where u.email = lower(${search})))`;
  return is_suspended === undefined ? found : sql`${found} and w.is_suspended = ${is_suspended}`;
}

/** A credit that was recorded with a reference. */
export interface RecordedCredit {
  readonly transaction_id: string;
  readonly amount: string;
}

/** The caller has locked the account, so that the same reference is not recorded twice at once. */
export function findCredit(
  tx: Queryable,
  workspaceId: WorkspaceId,
  reference: string,
): Promise<RecordedCredit | undefined> {
  return tx.row(sql`
    select transaction_id, amount::numeric(20, 2)::text as amount from operator_credits
    where workspace_id = ${workspaceId} and reference = ${reference}`);
}

export async function insertCredit(
  tx: Queryable,
  workspaceId: WorkspaceId,
  reference: string,
  { transaction_id, amount }: RecordedCredit,
): Promise<void> {
  await tx.run(sql`
    insert into operator_credits (workspace_id, reference, transaction_id, amount)
    values (${workspaceId}, ${reference}, ${transaction_id}, ${amount})`);
}

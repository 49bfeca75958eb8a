/** A month of the ledger as a statement: lines, sums, and the balance before and after. */
import sql, { type Sql } from "sql-template-tag";
import type { Queryable } from "#platform/database/pool.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import type { TransactionType } from "#workspace/billing/ledger-store.ts";
import type { Period } from "#workspace/billing/periods.ts";
import type { MeterKind } from "#workspace/billing/plans.ts";

export interface StatementLine {
  readonly transaction_type: TransactionType;
  /** What was used; null for other types. */
  readonly kind: MeterKind | null;
  readonly description: string;
  /** Units; null where the line has no price of a unit. */
  readonly quantity: number | null;
  /** US dollars, as is `amount`. */
  readonly unit_rate: string | null;
  readonly amount: string;
  readonly receipt_number: string | null;
  /** The first and the last time, which are equal for a single entry. */
  readonly from: Date;
  readonly to: Date;
}

/** Completed rows count when they were completed: a payment may wait for days. */
const inMonth = (workspaceId: WorkspaceId, { start, end }: Period) => sql`
  workspace_id = ${workspaceId} and status = 'completed' and completed_at >= ${start} and completed_at < ${end}`;

/** Usage is one line for each kind and rate; everything else is a line for each entry. In the order of time. */
const linesSql = (workspaceId: WorkspaceId, period: Period): Sql => sql`(
  select transaction_type, kind, min(description) as description, sum(quantity)::bigint as quantity, unit_rate::text,
    sum(amount)::numeric(20, 6)::text as amount, null as receipt_number, min(created_at) as "from", max(completed_at) as "to",
    min(id::text) as place
  from billing_transactions where ${inMonth(workspaceId, period)} and day is not null
  group by transaction_type, kind, unit_rate
  union all
  select transaction_type, kind, description, quantity, unit_rate::text, amount::text, receipt_number, completed_at,
    completed_at, id::text
  from billing_transactions where ${inMonth(workspaceId, period)} and day is null) lines`;

/** @param after the number of lines before */
export function listStatementLines(
  db: Queryable,
  workspaceId: WorkspaceId,
  period: Period,
  { limit, after }: { readonly limit: number; readonly after: number },
): Promise<StatementLine[]> {
  return db.rows(sql`
    select transaction_type, kind, description, quantity, unit_rate, amount, receipt_number, "from", "to"
    from ${linesSql(workspaceId, period)} order by "from", place limit ${limit} offset ${after}`);
}

export interface StatementSums {
  readonly opening_balance: string;
  readonly closing_balance: string;
  readonly topups: string;
  readonly usage: string;
  readonly refunds: string;
  readonly subscriptions: string;
  readonly adjustments: string;
}

export async function sumStatement(
  db: Queryable,
  workspaceId: WorkspaceId,
  period: Period,
): Promise<StatementSums> {
  const sum = (condition: Sql) =>
    sql`coalesce(sum(amount) filter (where ${condition}), 0)::numeric(20, 6)::text`;
  const of = (type: TransactionType) =>
    sum(sql`completed_at >= ${period.start} and transaction_type = ${type}`);
  const row = await db.row<StatementSums>(sql`
    select ${sum(sql`completed_at < ${period.start}`)} as opening_balance, ${sum(sql`true`)} as closing_balance,
      ${of("topup")} as topups, ${of("usage")} as usage, ${of("refund")} as refunds,
      ${of("subscription")} as subscriptions, ${of("adjustment")} as adjustments
    from billing_transactions
    where workspace_id = ${workspaceId} and status = 'completed' and completed_at < ${period.end}`);
  if (row === undefined) throw new Error("no row");
  return row;
}

/** SQL that reads the ledger, and usage by day beside it. */
import sql, { empty, type Sql } from "sql-template-tag";
import type { Page } from "#platform/database/page.ts";
import type { Queryable } from "#platform/database/pool.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import type { Gateway, TransactionStatus, TransactionType } from "./ledger-store.ts";
import type { MeterKind } from "./plans.ts";

export interface TransactionRow {
  readonly id: string;
  readonly gateway: Gateway | null;
  readonly transaction_type: TransactionType;
  readonly amount: string;
  readonly currency: string;
  readonly status: TransactionStatus;
  readonly receipt_number: string | null;
  readonly description: string;
  readonly created_at: Date;
}

export interface TransactionFilter {
  readonly status?: TransactionStatus | undefined;
  readonly gateway?: Gateway | undefined;
  /** Only transactions older than this one. */
  readonly before?: string | undefined;
}

const columns = sql`
  id, gateway, transaction_type, amount, currency, status, receipt_number, description, created_at`;

/** A transaction that must exist. */
export async function getTransaction(
  db: Queryable,
  workspaceId: WorkspaceId,
  id: string,
): Promise<TransactionRow> {
  const row = await db.row<TransactionRow>(sql`
    select ${columns} from billing_transactions where workspace_id = ${workspaceId} and id = ${id}`);
  if (row === undefined) throw new Error(`no transaction ${id}`);
  return row;
}

/** Newest first: ids are UUIDs of version 7, whose order is that of time. */
export function listTransactions(
  db: Queryable,
  workspaceId: WorkspaceId,
  filter: TransactionFilter,
  { limit, offset }: Page,
): Promise<TransactionRow[]> {
  return db.rows(sql`
    select ${columns} from billing_transactions
    where ${matching(workspaceId, filter)} order by id desc limit ${limit} offset ${offset}`);
}

export async function countTransactions(
  db: Queryable,
  workspaceId: WorkspaceId,
  filter: TransactionFilter,
): Promise<number> {
  const row = await db.row<{ count: number }>(sql`
    select count(*) as count from billing_transactions where ${matching(workspaceId, filter)}`);
  return row?.count ?? 0;
}

const ROWS_AT_ONCE = 1_000;

/** All transactions, newest first, in batches. */
export async function* readTransactions(
  db: Queryable,
  workspaceId: WorkspaceId,
  filter: TransactionFilter,
): AsyncGenerator<TransactionRow[]> {
  for (let { before } = filter; ; ) {
    const rows = await listTransactions(
      db,
      workspaceId,
      { ...filter, before },
      { limit: ROWS_AT_ONCE, offset: 0 },
    );
    if (rows.length > 0) yield rows;
    if (rows.length < ROWS_AT_ONCE) return;
    before = rows.at(-1)?.id;
  }
}

function matching(workspaceId: WorkspaceId, { status, gateway, before }: TransactionFilter): Sql {
  return sql`workspace_id = ${workspaceId}
    ${status === undefined ? empty : sql`and status = ${status}`}
    ${gateway === undefined ? empty : sql`and gateway = ${gateway}`}
    ${before === undefined ? empty : sql`and id < ${before}`}`;
}

/** Spending since a time, less refunds. */
export async function spentSince(
  db: Queryable,
  workspaceId: WorkspaceId,
  since: Date,
): Promise<{ email: string; validation: string; subscription: string }> {
  const sum = (condition: Sql) =>
    sql`(coalesce(-sum(amount) filter (where ${condition}), 0))::numeric(20, 6)::text`;
  const row = await db.row<{ email: string; validation: string; subscription: string }>(sql`
    select ${sum(sql`kind = 'email'`)} as email, ${sum(sql`kind = 'validation'`)} as validation,
      ${sum(sql`transaction_type = 'subscription'`)} as subscription
    from billing_transactions
    where workspace_id = ${workspaceId} and status = 'completed' and created_at >= ${since}`);
  return row ?? { email: "0", validation: "0", subscription: "0" };
}

export interface Charge {
  readonly id: string;
  readonly transaction_type: TransactionType;
  readonly description: string;
  readonly quantity: number | null;
  readonly unit_rate: string | null;
  /** USD paid. */
  readonly amount: string;
  readonly created_at: Date;
}

/** The newest charges. */
export function listCharges(db: Queryable, workspaceId: WorkspaceId, limit: number): Promise<Charge[]> {
  return db.rows(sql`
    select id, transaction_type, description, quantity, unit_rate, -amount as amount, created_at
    from billing_transactions
    where workspace_id = ${workspaceId} and transaction_type in ('usage', 'subscription') and status = 'completed'
    order by id desc limit ${limit}`);
}

/** From the first day to the last, `YYYY-MM-DD`. */
export interface DaySpan {
  readonly from: string;
  readonly to: string;
}

export interface DayUse {
  readonly date: string;
  readonly kind: MeterKind;
  readonly used: number;
  readonly returned: number;
  /** US dollars charged, less what was returned. */
  readonly charged: string;
}

/** The days with usage or charges of a kind. */
export function listDayUse(
  db: Queryable,
  workspaceId: WorkspaceId,
  { from, to }: DaySpan,
): Promise<DayUse[]> {
  return db.rows(sql`
    select coalesce(m.day, l.day)::text as date, coalesce(m.kind, l.kind) as kind, coalesce(m.used, 0) as used,
      coalesce(m.returned, 0) as returned, coalesce(l.charged, 0)::numeric(20, 6)::text as charged
    from (
      select day, kind, used, returned from meter_days
      where workspace_id = ${workspaceId} and day between ${from}::date and ${to}::date) m
    full join (
      select day, kind, -sum(amount) as charged from billing_transactions
      where workspace_id = ${workspaceId} and day between ${from}::date and ${to}::date and status = 'completed'
      group by day, kind) l on l.day = m.day and l.kind = m.kind
    order by 1, 2`);
}

/**
 * SQL of the ledger. Each completed row moves the balance by its amount in the same statement, so that the balance
 * always equals the sum of the ledger. The caller has locked the account.
 */
import sql, { type Sql } from "sql-template-tag";
import type { Queryable } from "#platform/database/pool.ts";
import { newId, type WorkspaceId } from "#platform/ids.ts";
import type { MeterKind } from "./plans.ts";

export const gateways = ["stripe", "manual"] as const;
export type Gateway = (typeof gateways)[number];

export const transactionTypes = ["topup", "subscription", "usage", "refund", "adjustment"] as const;
export type TransactionType = (typeof transactionTypes)[number];

export const transactionStatuses = ["pending", "completed", "failed"] as const;
export type TransactionStatus = (typeof transactionStatuses)[number];

export interface LedgerEntry {
  readonly gateway: Gateway | null;
  readonly transaction_type: TransactionType;
  /** USD, signed, at most six places. */
  readonly amount: string;
  readonly description: string;
}

/** @returns the id of the completed transaction */
export async function insertLedgerEntry(
  tx: Queryable,
  workspaceId: WorkspaceId,
  { gateway, transaction_type, amount, description }: LedgerEntry,
  now: Date,
): Promise<string> {
  const id = newId();
  await tx.run(sql`
    with receipt as (${nextReceipt(workspaceId, now)}), moved as (${moveBalance(workspaceId, amount)})
    insert into billing_transactions (workspace_id, id, gateway, transaction_type, amount, status, receipt_number,
      description, created_at, completed_at)
    select ${workspaceId}, ${id}, ${gateway}, ${transaction_type}, ${amount}, 'completed', number, ${description},
      ${now}, ${now}
    from receipt`);
  return id;
}

export interface DailyCharge {
  readonly transaction_type: "usage" | "refund";
  readonly kind: MeterKind;
  /** Units beyond the allowance. */
  readonly quantity: number;
  readonly unit_rate: string;
  readonly amount: string;
  readonly description: string;
}

/**
 * Adds each charge to the row of its workspace, day, kind and rate, so that the ledger of a million messages stays short.
 * Receipts of new rows are numbered in the order of the charges.
 */
export async function addDailyCharges(
  tx: Queryable,
  charges: readonly (DailyCharge & { readonly workspaceId: WorkspaceId })[],
  now: Date,
): Promise<void> {
  if (charges.length === 0) return;
  const column = <Value>(read: (charge: (typeof charges)[number]) => Value) => charges.map(read);
  const day = now.toISOString().slice(0, 10);
  await tx.run(sql`
    with charge as materialized (
      select workspace_id, transaction_type, kind, unit_rate, min(description) as description, sum(quantity)::bigint as quantity,
        sum(amount) as amount, min(place) as place, (array_agg(id order by place))[1] as id
      from unnest(${column(({ workspaceId }) => workspaceId)}::uuid[], ${column(() => newId())}::uuid[],
          ${column(({ transaction_type }) => transaction_type)}::text[], ${column(({ kind }) => kind)}::text[],
          ${column(({ unit_rate }) => unit_rate)}::numeric[], ${column(({ description }) => description)}::text[],
          ${column(({ quantity }) => quantity)}::bigint[], ${column(({ amount }) => amount)}::numeric[])
        with ordinality as c (workspace_id, id, transaction_type, kind, unit_rate, description, quantity, amount, place)
      group by workspace_id, transaction_type, kind, unit_rate
    ), fresh as materialized (
      select id, workspace_id, row_number() over (partition by workspace_id order by place desc) - 1 as further
      from charge c
      where not exists (
        select from billing_transactions t
        where t.workspace_id = c.workspace_id and t.transaction_type = c.transaction_type and t.kind = c.kind
          and t.day = ${day} and t.unit_rate = c.unit_rate)
    ), counter as (${nextReceipts(sql`select workspace_id, count(*) from fresh group by workspace_id`, now)}),
    moved as (
      update billing_accounts a set balance = a.balance + m.amount
      from (select workspace_id, sum(amount) as amount from charge group by workspace_id) m
      where a.workspace_id = m.workspace_id
    )
    insert into billing_transactions (workspace_id, id, transaction_type, amount, status, receipt_number, description,
      kind, quantity, unit_rate, day, created_at, completed_at)
    select c.workspace_id, c.id, c.transaction_type, c.amount, 'completed', ${receiptNumber(sql`counter.last - fresh.further`, now)},
      c.description, c.kind, c.quantity, c.unit_rate, ${day}, ${now}, ${now}
    from charge c left join fresh on fresh.workspace_id = c.workspace_id and fresh.id = c.id
      left join counter on counter.workspace_id = fresh.workspace_id
    on conflict (workspace_id, transaction_type, kind, day, unit_rate) where day is not null
      do update set amount = billing_transactions.amount + excluded.amount,
        quantity = billing_transactions.quantity + excluded.quantity, completed_at = excluded.completed_at`);
}

export function moveBalance(workspaceId: WorkspaceId, amount: string): Sql {
  return sql`update billing_accounts set balance = balance + ${amount}::numeric where workspace_id = ${workspaceId}`;
}

/** The next receipt number of a workspace, as `number`. */
export function nextReceipt(workspaceId: WorkspaceId, now: Date): Sql {
  return nextReceipts(sql`values (${workspaceId}::uuid, 1)`, now);
}

/**
 * Numbers receipts, per workspace and year, without gaps. Returns the workspaces with the `last` number of each, as a
 * receipt has it in `number`.
 * @param counts selects workspaces and how many receipts each gets
 */
function nextReceipts(counts: Sql, now: Date): Sql {
  const year = now.getUTCFullYear();
  return sql`
    insert into receipt_counters (workspace_id, year, last)
    select workspace_id, ${year}, count from (${counts}) as c (workspace_id, count)
    on conflict (workspace_id, year) do update set last = receipt_counters.last + excluded.last
    returning workspace_id, last, ${receiptNumber(sql`last`, now)} as number`;
}

/** Such as R-2026-000001. */
function receiptNumber(number: Sql, now: Date): Sql {
  return sql`'R-' || ${now.getUTCFullYear()}::integer || '-' || lpad((${number})::text, 6, '0')`;
}

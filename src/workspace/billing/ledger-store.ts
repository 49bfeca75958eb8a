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
    with receipt as (${nextReceipt(workspaceId, now, sql`true`)}), moved as (${moveBalance(workspaceId, amount)})
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

/** Adds to the row of its day, kind and rate, so that the ledger of a million messages stays short. */
export async function addDailyCharge(
  tx: Queryable,
  workspaceId: WorkspaceId,
  movement: DailyCharge,
  now: Date,
): Promise<void> {
  const { transaction_type, kind, quantity, unit_rate, amount, description } = movement;
  const day = now.toISOString().slice(0, 10);
  const known = sql`
    select from billing_transactions
    where workspace_id = ${workspaceId} and transaction_type = ${transaction_type} and kind = ${kind}
      and day = ${day} and unit_rate = ${unit_rate}`;
  await tx.run(sql`
    with receipt as (${nextReceipt(workspaceId, now, sql`not exists (${known})`)}),
      moved as (${moveBalance(workspaceId, amount)})
    insert into billing_transactions (workspace_id, id, transaction_type, amount, status, receipt_number, description,
      kind, quantity, unit_rate, day, created_at, completed_at)
    values (${workspaceId}, ${newId()}, ${transaction_type}, ${amount}, 'completed', (select number from receipt),
      ${description}, ${kind}, ${quantity}, ${unit_rate}, ${day}, ${now}, ${now})
    on conflict (workspace_id, transaction_type, kind, day, unit_rate) where day is not null
      do update set amount = billing_transactions.amount + excluded.amount,
        quantity = billing_transactions.quantity + excluded.quantity, completed_at = excluded.completed_at`);
}

export function moveBalance(workspaceId: WorkspaceId, amount: string): Sql {
  return sql`update billing_accounts set balance = balance + ${amount}::numeric where workspace_id = ${workspaceId}`;
}

/** A receipt number as `number`, such as R-2026-000001: per workspace and year, without gaps. */
export function nextReceipt(workspaceId: WorkspaceId, now: Date, condition: Sql): Sql {
  const year = now.getUTCFullYear();
  return sql`
    insert into receipt_counters (workspace_id, year, last)
    select ${workspaceId}, ${year}, 1 where ${condition}
    on conflict (workspace_id, year) do update set last = receipt_counters.last + 1
    returning 'R-' || year || '-' || lpad(last::text, 6, '0') as number`;
}

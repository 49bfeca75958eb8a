/** SQL of payments: pending top-ups, and events of the payment gateway. */
import sql from "sql-template-tag";
import type { Queryable } from "#platform/database/pool.ts";
import { newId, type WorkspaceId } from "#platform/ids.ts";
import { type Gateway, moveBalance, nextReceipt, type TransactionStatus } from "./ledger-store.ts";

export async function insertPending(
  tx: Queryable,
  workspaceId: WorkspaceId,
  { gateway, amount, description }: { gateway: Gateway; amount: string; description: string },
  now: Date,
): Promise<string> {
  const id = newId();
  await tx.run(sql`
    insert into billing_transactions (workspace_id, id, gateway, transaction_type, amount, status, description,
      created_at)
    values (${workspaceId}, ${id}, ${gateway}, 'topup', ${amount}, 'pending', ${description}, ${now})`);
  return id;
}

export async function countPending(db: Queryable, workspaceId: WorkspaceId): Promise<number> {
  const row = await db.row<{ count: number }>(sql`
    select count(*) as count from billing_transactions where workspace_id = ${workspaceId} and status = 'pending'`);
  return row?.count ?? 0;
}

export async function updateReference(
  tx: Queryable,
  workspaceId: WorkspaceId,
  id: string,
  reference: string,
): Promise<void> {
  await tx.run(sql`
    update billing_transactions set gateway_reference = ${reference}
    where workspace_id = ${workspaceId} and id = ${id} and gateway_reference is null`);
}

export interface Payment {
  readonly amount: string;
  readonly currency: string;
  readonly status: TransactionStatus;
  /** Null until the gateway has returned one. */
  readonly gateway_reference: string | null;
}

export function findPayment(
  db: Queryable,
  workspaceId: WorkspaceId,
  id: string,
  gateway: Gateway,
): Promise<Payment | undefined> {
  return db.row(sql`
    select amount, currency, status, gateway_reference from billing_transactions
    where workspace_id = ${workspaceId} and id = ${id} and gateway = ${gateway} and transaction_type = 'topup'`);
}

/** Completes the transaction with a receipt, and adds its amount to the balance. The caller has locked the account. */
export async function completePayment(
  tx: Queryable,
  workspaceId: WorkspaceId,
  id: string,
  amount: string,
  now: Date,
): Promise<void> {
  await tx.run(sql`
    with receipt as (${nextReceipt(workspaceId, now)}), moved as (${moveBalance(workspaceId, amount)})
    update billing_transactions set status = 'completed', completed_at = ${now},
      receipt_number = (select number from receipt)
    where workspace_id = ${workspaceId} and id = ${id}`);
}

/** Fails a pending transaction; a completed one stays completed. */
export async function failPayment(tx: Queryable, workspaceId: WorkspaceId, id: string): Promise<void> {
  await tx.run(sql`
    update billing_transactions set status = 'failed'
    where workspace_id = ${workspaceId} and id = ${id} and status = 'pending'`);
}

/**
 * Fails up to `most` unpaid top-ups created before a time.
 * @returns how many
 */
export async function failOldPayments(db: Queryable, before: Date, most: number): Promise<number> {
  return db.run(sql`
    update billing_transactions t set status = 'failed'
    from (
      select workspace_id, id from billing_transactions
      where status = 'pending' and created_at < ${before} order by created_at limit ${most} for update skip locked) old
    where t.workspace_id = old.workspace_id and t.id = old.id`);
}

/** Records an event of the gateway, once for each id. */
export async function insertEvent(
  tx: Queryable,
  workspaceId: WorkspaceId,
  gateway: Gateway,
  eventId: string,
  now: Date,
): Promise<"new" | "seen before" | "unknown workspace"> {
  const inserted = await tx.run(sql`
    insert into payment_events (workspace_id, gateway, event_id, received_at)
    select id, ${gateway}, ${eventId}, ${now} from workspaces where id = ${workspaceId}
    on conflict do nothing`);
  if (inserted === 1) return "new";
  const workspace = await tx.row(sql`select from workspaces where id = ${workspaceId}`);
  return workspace === undefined ? "unknown workspace" : "seen before";
}

/**
 * Deletes up to `most` events.
 * @returns how many
 */
export function removeOldEvents(db: Queryable, before: Date, most: number): Promise<number> {
  return db.run(sql`
    delete from payment_events where ctid = any(array(
      select ctid from payment_events where received_at < ${before} order by received_at limit ${most}))`);
}

/** A top-up through a payment gateway: started by a call, completed by an event of the gateway. */
import { Big } from "big.js";
import type { Database, Queryable } from "#platform/database/pool.ts";
import { ApiError, invalid, overloaded } from "#platform/errors.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import type { Log } from "#platform/log/log.ts";
import { HOUR_MS } from "#platform/time-units.ts";
import { lockAccount } from "#workspace/billing/account-store.ts";
import { settleAccount } from "#workspace/billing/meter.ts";
import {
  completePayment,
  countPending,
  failPayment,
  findPayment,
  insertEvent,
  insertPending,
  updateReference,
} from "#workspace/billing/payment-store.ts";
import type { Plans } from "#workspace/billing/plans.ts";
import { afterTopUp, readAmount } from "#workspace/billing/top-up.ts";
import type { PaymentEvent, PaymentGateway } from "./gateway.ts";

/** The gateway's page closes before the unpaid transaction fails (billing-jobs.ts: 24 hours). */
const PAGE_HOURS = 23;
const MOST_PENDING = 20;

export interface CardTopUp {
  readonly workspaceId: WorkspaceId;
  readonly amount: string;
  readonly returnUrl: string;
}

/**
 * Creates a pending transaction and the page where it is paid.
 * @throws ApiError VALIDATION_ERROR for the amount, CONFLICT when too many top-ups are pending, 503 when the gateway
 * refuses or does not answer
 */
export async function beginCardTopUp(
  db: Database,
  gateway: PaymentGateway,
  { workspaceId, amount: given, returnUrl }: CardTopUp,
  now: Date,
  log: Pick<Log, "warn">,
): Promise<{ readonly transactionId: string; readonly url: string }> {
  const amount = readAmount(given);
  const { least, most } = gateway.limits;
  if (new Big(amount).lt(least) || new Big(amount).gt(most)) {
    throw invalid({ field: "amount", message: `amount must be from ${least} to ${most} US dollars` });
  }
  const transactionId = await db.transaction(async (tx) => {
    await lockAccount(tx, workspaceId);
    if ((await countPending(tx, workspaceId)) >= MOST_PENDING) {
      throw new ApiError(
        "CONFLICT",
        `${MOST_PENDING} top-ups are unpaid: pay one, or start another tomorrow`,
      );
    }
    return insertPending(
      tx,
      workspaceId,
      { gateway: gateway.name, amount, description: "Top-up by card" },
      now,
    );
  });
  const expiresAt = new Date(now.getTime() + PAGE_HOURS * HOUR_MS);
  try {
    const order = { workspaceId, transactionId, amount, returnUrl, expiresAt };
    const { reference, url } = await gateway.createTopUp(order);
    await updateReference(db, workspaceId, transactionId, reference);
    return { transactionId, url };
  } catch (err) {
    log.warn({ err, workspaceId }, "payment gateway refused a top-up");
    await failPayment(db, workspaceId, transactionId);
    throw overloaded("The payment provider cannot take a top-up now: retry shortly");
  }
}

/** Why an event changed nothing. */
export interface Ignored {
  readonly because: string;
  /** The money was received but not credited: the operator has to refund it, or credit it by hand. */
  readonly isUncredited: boolean;
}

/**
 * Applies an event: the pending transaction is completed or fails, once. One that failed because it was not paid in
 * time, and is paid later, is completed: the money was received.
 * @returns why nothing changed; null when something did
 */
export async function applyPaymentEvent(
  tx: Queryable,
  plans: Plans,
  gateway: PaymentGateway,
  event: PaymentEvent,
  now: Date,
): Promise<Ignored | null> {
  const { payment, otherMode } = event;
  const harmless = (because: string): Ignored => ({ because, isUncredited: false });
  if (otherMode !== null) {
    const because = `the event is of ${otherMode} mode, the configured key is not`;
    return { because, isUncredited: otherMode === "live" && payment?.outcome === "paid" };
  }
  if (payment === null) return harmless("not about a top-up");
  const { workspaceId, transactionId, reference, cents, currency, outcome } = payment;
  const uncredited = (because: string): Ignored => ({ because, isUncredited: outcome === "paid" });
  const recorded = await insertEvent(tx, workspaceId, gateway.name, event.id, now);
  if (recorded === "seen before") return harmless("the event was seen before");
  if (recorded === "unknown workspace") return uncredited("the workspace is unknown");
  await settleAccount(tx, plans, workspaceId, now);
  const known = await findPayment(tx, workspaceId, transactionId, gateway.name);
  if (known === undefined) return uncredited("the transaction is unknown");
  if (known.gateway_reference !== null && known.gateway_reference !== reference)
    return uncredited("the transaction belongs to another payment");
  if (known.status === "completed") return harmless("the transaction is completed");
  if (outcome === "failed") {
    await failPayment(tx, workspaceId, transactionId);
    return null;
  }
  if (currency !== known.currency || !new Big(known.amount).times(100).eq(cents)) {
    return uncredited("amount or currency differ");
  }
  await updateReference(tx, workspaceId, transactionId, reference);
  await completePayment(tx, workspaceId, transactionId, known.amount, now);
  await afterTopUp(tx, plans, workspaceId, now);
  return null;
}

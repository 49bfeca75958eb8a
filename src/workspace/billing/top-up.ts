/** Top-ups: recorded by the operator, or paid through a payment gateway. */
import { Big } from "big.js";
import type { Queryable } from "#platform/database/pool.ts";
import { invalid } from "#platform/errors.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import { markPrepaid } from "./account-store.ts";
import { type Gateway, insertLedgerEntry } from "./ledger-store.ts";
import { settleAccount } from "./meter.ts";
import type { Plans } from "./plans.ts";
import { payOverdue } from "./subscribe.ts";

/** A larger amount is probably a typing error. */
const LARGEST = "1000000";

/**
 * US dollars, at most two decimals, above zero.
 * @throws ApiError VALIDATION_ERROR
 */
export function readAmount(text: string): string {
  if (!/^\d{1,7}(\.\d{1,2})?$/.test(text) || new Big(text).eq(0) || new Big(text).gt(LARGEST)) {
    throw invalid({
      field: "amount",
      message: `amount must be US dollars above 0 and at most ${LARGEST}, such as 10.00`,
    });
  }
  return new Big(text).toFixed(2);
}

/**
 * Adds to the balance, and pays what the subscription owes.
 * @throws ApiError NOT_FOUND when the workspace does not exist
 */
export async function topUp(
  tx: Queryable,
  plans: Plans,
  workspaceId: WorkspaceId,
  {
    amount,
    gateway,
    description,
  }: { readonly amount: string; readonly gateway: Gateway; readonly description: string },
  now: Date,
): Promise<{ readonly transactionId: string }> {
  await settleAccount(tx, plans, workspaceId, now);
  const movement = { gateway, transaction_type: "topup", amount, description } as const;
  const transactionId = await insertLedgerEntry(tx, workspaceId, movement, now);
  await afterTopUp(tx, plans, workspaceId, now);
  return { transactionId };
}

/** Called after an amount was added to the balance. */
export async function afterTopUp(
  tx: Queryable,
  plans: Plans,
  workspaceId: WorkspaceId,
  now: Date,
): Promise<void> {
  await markPrepaid(tx, workspaceId);
  await payOverdue(tx, plans, workspaceId, now);
}

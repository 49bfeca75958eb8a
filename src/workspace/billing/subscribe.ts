/** Subscribing, cancelling and renewing: each in one transaction with its charge. */
import { Big } from "big.js";
import type { Queryable } from "#platform/database/pool.ts";
import { ApiError, invalid, notFound } from "#platform/errors.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import type { PlanName } from "#workspace/workspaces/workspace.ts";
import { formatMoney } from "./format-money.ts";
import { insertLedgerEntry } from "./ledger-store.ts";
import { settleAccount } from "./meter.ts";
import type { BillingInterval } from "./periods.ts";
import type { CanceledSubscription, Subscription } from "./plan-of-account.ts";
import type { Plans } from "./plans.ts";
import { changeTo, priceOf, renewed } from "./subscription-rules.ts";
import { putSubscription, removeSubscription } from "./subscription-store.ts";

export interface SubscriptionRequest {
  readonly plan_id: PlanName;
  /** Undefined: unchanged, or monthly for a new subscription. */
  readonly billing_interval: BillingInterval | undefined;
}

/**
 * Subscribes, or changes plan and interval, at once.
 * @throws ApiError BAD_REQUEST for a plan by agreement, CONFLICT when nothing would change or a paid year has not
 * ended, INSUFFICIENT_BALANCE when the balance does not cover the price; nothing has changed then
 */
export async function subscribe(
  tx: Queryable,
  plans: Plans,
  workspaceId: WorkspaceId,
  { plan_id, billing_interval }: SubscriptionRequest,
  now: Date,
): Promise<Subscription> {
  const plan = plans[plan_id];
  if (plan.id === "free") {
    throw invalid({
      field: "plan_id",
      message: "free needs no subscription: cancel the current subscription instead",
    });
  }
  if (plan.price_monthly === null) {
    throw new ApiError(
      "BAD_REQUEST",
      `Plan ${plan.name} is by agreement only: contact the operator of this instance`,
    );
  }
  const { account } = await settleAccount(tx, plans, workspaceId, now);
  const current = account.subscription;
  if (current === null && account.plan !== "free") {
    throw new ApiError(
      "CONFLICT",
      `The operator of this instance has set the plan ${account.plan}: ask them to change it`,
    );
  }
  const interval = billing_interval ?? current?.billing_interval ?? "monthly";
  const isSame = current?.plan_id === plan.id && current.billing_interval === interval;
  if (isSame && current.status === "active" && !current.cancel_at_period_end) {
    throw new ApiError("CONFLICT", `The workspace already subscribes to ${plan.name}, ${interval}`);
  }
  const isYearPaid =
    current?.status === "active" && current.billing_interval === "yearly" && current.current_period_end > now;
  if (isYearPaid && interval === "monthly") {
    const end = current.current_period_end.toISOString().slice(0, 10);
    throw new ApiError(
      "CONFLICT",
      `The year is paid until ${end}: cancel the subscription, and subscribe monthly after that date`,
    );
  }
  const currentPlan = current === null ? null : plans[current.plan_id];
  const { next, price } = changeTo(current, plan, interval, currentPlan, now);
  const isCovered = await pay(tx, workspaceId, account.balance, price, `${plan.name}, ${interval}`, now);
  if (!isCovered) {
    throw new ApiError(
      "INSUFFICIENT_BALANCE",
      `This costs ${price} USD, the balance is ${formatMoney(account.balance)} USD: top up`,
    );
  }
  await putSubscription(tx, workspaceId, next, now);
  await settleAccount(tx, plans, workspaceId, now);
  return next;
}

/**
 * Cancels the subscription at the end of its paid period; an unpaid one ends at once.
 * @throws ApiError NOT_FOUND without a subscription, CONFLICT when it is already cancelled
 */
export async function cancelSubscription(
  tx: Queryable,
  plans: Plans,
  workspaceId: WorkspaceId,
  now: Date,
): Promise<Subscription | CanceledSubscription> {
  const { account } = await settleAccount(tx, plans, workspaceId, now);
  const current = account.subscription;
  if (current === null) throw notFound("Subscription");
  if (current.cancel_at_period_end) {
    throw new ApiError("CONFLICT", "The subscription is already cancelled: it ends with its current period");
  }
  const next = { ...current, cancel_at_period_end: true };
  if (current.status === "active") {
    await putSubscription(tx, workspaceId, next, now);
    return next;
  }
  // An unpaid subscription has no paid period left: it ends at once.
  await removeSubscription(tx, workspaceId);
  await settleAccount(tx, plans, workspaceId, now);
  return { ...next, status: "canceled", current_period_end: now, past_due_since: null, retry_at: null };
}

/** Ends, renews, retries or suspends a subscription when that is due. Concurrent calls do it once. */
export async function renewSubscription(
  tx: Queryable,
  plans: Plans,
  workspaceId: WorkspaceId,
  now: Date,
): Promise<void> {
  const { account } = await settleAccount(tx, plans, workspaceId, now);
  const current = account.subscription;
  const isDue =
    current !== null &&
    ((current.current_period_end <= now && current.status !== "suspended") ||
      (current.retry_at !== null && current.retry_at <= now));
  if (isDue) await payFor(tx, plans, workspaceId, current, account.balance, now);
}

/** After a top-up: pays a past due or suspended subscription when the balance covers it. */
export async function payOverdue(
  tx: Queryable,
  plans: Plans,
  workspaceId: WorkspaceId,
  now: Date,
): Promise<void> {
  const { account } = await settleAccount(tx, plans, workspaceId, now);
  const current = account.subscription;
  if (current === null || current.status === "active" || current.cancel_at_period_end) return;
  const plan = plans[current.plan_id];
  if (new Big(account.balance).lt(priceOf(plan, current.billing_interval))) return;
  // A suspended subscription starts a new period: during the old one the limits of Free applied.
  const owed = current.status === "suspended" ? { ...current, anchor: now } : current;
  await payFor(tx, plans, workspaceId, owed, account.balance, now);
}

async function payFor(
  tx: Queryable,
  plans: Plans,
  workspaceId: WorkspaceId,
  current: Subscription,
  balance: string,
  now: Date,
): Promise<void> {
  const plan = plans[current.plan_id];
  const { price, paid, unpaid } = renewed(current, plan, now);
  const isCovered = await pay(
    tx,
    workspaceId,
    balance,
    price,
    `${plan.name}, ${current.billing_interval}`,
    now,
  );
  const next = isCovered ? paid : unpaid;
  if (next === null) await removeSubscription(tx, workspaceId);
  else await putSubscription(tx, workspaceId, next, now);
  await settleAccount(tx, plans, workspaceId, now);
}

/** @returns false, with nothing charged, when the balance does not cover the price */
async function pay(
  tx: Queryable,
  workspaceId: WorkspaceId,
  balance: string,
  price: string,
  description: string,
  now: Date,
): Promise<boolean> {
  if (new Big(price).gt(balance)) return false;
  if (new Big(price).eq(0)) return true;
  const amount = new Big(price).times(-1).toFixed(6);
  await insertLedgerEntry(
    tx,
    workspaceId,
    { gateway: null, transaction_type: "subscription", amount, description: `Subscription: ${description}` },
    now,
  );
  return true;
}

/**
 * Rules of subscriptions: the price of a plan change, and what the end of a period brings. Functions return the next
 * subscription and its price; nothing here writes.
 */
import { Big } from "big.js";
import { DAY_MS } from "#platform/time-units.ts";
import { type BillingInterval, periodAt } from "./periods.ts";
import type { Subscription } from "./plan-of-account.ts";
import type { Plan } from "./plans.ts";

/** A renewal that the balance did not cover is retried daily for this long. */
const PAST_DUE_DAYS = 7;

export interface PricedChange {
  readonly next: Subscription;
  /** USD, two decimals; 0.00 when nothing is due. */
  readonly price: string;
}

export function priceOf(plan: Plan, interval: BillingInterval): string {
  const price = interval === "monthly" ? plan.price_monthly : plan.price_yearly;
  if (price === null) throw new Error(`${plan.id} has no price`);
  return price;
}

/**
 * A change of plan, applied at once. Within a paid period of the same interval, the price difference is charged for the
 * rest of the period. Otherwise a new period begins, at its price less the unused rest of the old one. A negative
 * difference is neither charged nor refunded.
 */
export function changeTo(
  current: Subscription | null,
  plan: Plan,
  interval: BillingInterval,
  currentPlan: Plan | null,
  now: Date,
): PricedChange {
  const price = new Big(priceOf(plan, interval));
  const isPaid = current?.status === "active" && current.current_period_end > now;
  if (current === null || currentPlan === null || !isPaid) {
    return { next: begun(plan, interval, now), price: price.toFixed(2) };
  }
  const { current_period_start: start, current_period_end: end } = current;
  const whole = end.getTime() - start.getTime();
  const left = end.getTime() - now.getTime();
  const paid = new Big(priceOf(currentPlan, current.billing_interval)).times(left);
  // Division comes last, so that half cents are rounded once.
  if (interval !== current.billing_interval) {
    return { next: begun(plan, interval, now), price: positive(price.times(whole).minus(paid).div(whole)) };
  }
  return {
    next: { ...current, plan_id: plan.id, cancel_at_period_end: false },
    price: positive(price.times(left).minus(paid).div(whole)),
  };
}

function begun(plan: Plan, interval: BillingInterval, now: Date): Subscription {
  const { start, end } = periodAt(now, interval, now);
  return {
    plan_id: plan.id,
    billing_interval: interval,
    status: "active",
    anchor: now,
    current_period_start: start,
    current_period_end: end,
    cancel_at_period_end: false,
    past_due_since: null,
    retry_at: null,
  };
}

function positive(amount: Big): string {
  return amount.lte(0) ? "0.00" : amount.toFixed(2);
}

/**
 * What is due now, for a balance that covers `price` and for one that does not: the end of a cancelled subscription, a
 * renewal, a retried renewal, a suspension. Periods during which the service did not run are not charged.
 */
export function renewed(
  current: Subscription,
  plan: Plan,
  now: Date,
): { readonly price: string; readonly paid: Subscription | null; readonly unpaid: Subscription | null } {
  const price = priceOf(plan, current.billing_interval);
  const isOver = current.current_period_end <= now;
  if (isOver && current.cancel_at_period_end) return { price: "0.00", paid: null, unpaid: null };
  const { start, end } = periodAt(current.anchor, current.billing_interval, now);
  const period = { current_period_start: start, current_period_end: end };
  const since = current.past_due_since ?? now;
  const isGivenUp = now.getTime() - since.getTime() >= PAST_DUE_DAYS * DAY_MS;
  return {
    price,
    paid: { ...current, ...period, status: "active", past_due_since: null, retry_at: null },
    unpaid: isGivenUp
      ? { ...current, ...period, status: "suspended", past_due_since: since, retry_at: null }
      : {
          ...current,
          ...period,
          status: "past_due",
          past_due_since: since,
          retry_at: new Date(now.getTime() + DAY_MS),
        },
  };
}

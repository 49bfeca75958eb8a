/**
 * The rules of subscriptions: what a change of plan costs, and what a period's end brings. Each gives the next
 * subscription and the price to be paid for it; nothing here writes.
 */
import { Big } from "big.js";
import type { Subscription } from "./account.ts";
import { type BillingInterval, periodAt } from "./periods.ts";
import type { Plan } from "./plans.ts";

const DAY_MS = 24 * 3_600_000;
/** A renewal that the balance did not cover is tried daily, and so long. */
const PAST_DUE_DAYS = 7;

export interface PricedChange {
  readonly next: Subscription;
  /** What it costs: USD, two places; 0.00 where nothing is due. */
  readonly price: string;
}

export function priceOf(plan: Plan, interval: BillingInterval): string {
  const price = interval === "monthly" ? plan.price_monthly : plan.price_yearly;
  if (price === null) throw new Error(`${plan.id} has no price`);
  return price;
}

/**
 * A change to a plan, at once. Within a paid period of the same interval the difference is charged for what is left of
 * it; otherwise a period begins, less what is left of the old one. A negative difference is neither charged nor given.
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
  // Divided last, and once: a half cent stays one.
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
 * What time brings, if the balance covers `price` or not: the end of a cancelled subscription, a renewal, a renewal
 * tried again, a suspension. Periods during which nothing ran are not charged.
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

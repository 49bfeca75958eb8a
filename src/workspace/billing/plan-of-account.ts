/** Which plan and which allowance period apply to a workspace: rules over rows, without a database. */
import type { PlanName } from "#workspace/workspaces/workspace.ts";
import { type BillingInterval, calendarMonth, type Period, periodAt } from "./periods.ts";
import type { Plan, Plans } from "./plans.ts";

export const subscriptionStatuses = ["active", "past_due", "suspended"] as const;
export type SubscriptionStatus = (typeof subscriptionStatuses)[number];

export interface Subscription {
  readonly plan_id: PlanName;
  readonly billing_interval: BillingInterval;
  readonly status: SubscriptionStatus;
  readonly anchor: Date;
  readonly current_period_start: Date;
  readonly current_period_end: Date;
  readonly cancel_at_period_end: boolean;
  readonly past_due_since: Date | null;
  readonly retry_at: Date | null;
}

/** A cancelled subscription that ended at once, as the answer shows it; it is not stored. */
export interface CanceledSubscription extends Omit<Subscription, "status"> {
  readonly status: "canceled";
}

/** A billing account with the workspace's settings and subscription. */
export interface Account {
  readonly balance: string;
  readonly is_prepaid: boolean;
  /** Set by the operator. A subscription in force takes precedence. */
  readonly plan: PlanName;
  /** The operator's or the workspace's own, whichever is lower. */
  readonly hourly_cap: number | null;
  readonly subscription: Subscription | null;
}

/**
 * The subscription, unless it is suspended or was cancelled and its period has ended: then the limits of the account's
 * own plan apply.
 */
function subscriptionInForce(
  { subscription }: Pick<Account, "subscription">,
  now: Date,
): Subscription | null {
  if (subscription === null || subscription.status === "suspended") return null;
  return subscription.cancel_at_period_end && subscription.current_period_end <= now ? null : subscription;
}

export function planOf(account: Account, plans: Plans, now: Date): Plan {
  return plans[planNameOf(account, now)];
}

export function planNameOf(account: Pick<Account, "plan" | "subscription">, now: Date): PlanName {
  return subscriptionInForce(account, now)?.plan_id ?? account.plan;
}

/**
 * The period of the allowances: a month, also for a plan that is paid by the year. It ends on time even when a renewal
 * is late.
 */
export function allowancePeriod(account: Account, now: Date): Period {
  const subscription = subscriptionInForce(account, now);
  return subscription === null ? calendarMonth(now) : periodAt(subscription.anchor, "monthly", now);
}

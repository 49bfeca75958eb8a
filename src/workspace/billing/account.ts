/** What a workspace may use and has used, as its account and its plan say: computed from rows, without a database. */
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

/** What is shown of one that ended as it was cancelled; afterwards there is none. */
export interface CanceledSubscription extends Omit<Subscription, "status"> {
  readonly status: "canceled";
}

/** An account beside the workspace's settings and its subscription. */
export interface Account {
  readonly balance: string;
  readonly is_prepaid: boolean;
  /** What the operator set; a subscription that is in force comes before it. */
  readonly plan: PlanName;
  readonly hourly_cap: number | null;
  readonly subscription: Subscription | null;
}

/** A suspended subscription leaves the limits of Free, and so does a cancelled one whose period is over. */
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
 * The allowance's period: a month, also of a plan that is paid by the year. A renewal that was not made yet changes
 * nothing about when it ends.
 */
export function allowancePeriod(account: Account, now: Date): Period {
  const subscription = subscriptionInForce(account, now);
  return subscription === null ? calendarMonth(now) : periodAt(subscription.anchor, "monthly", now);
}

/** The figures that the ledger simulation compares, and their values in the model. */
import {
  type Interval,
  includedIn,
  type Kind,
  type Model,
  type ModelSubscription,
  meterOf,
  type PlanId,
} from "./ledger-model.ts";

/** All figures are visible in the API or derived from visible ones (`included` from `emails_remaining`). */
export interface Books {
  readonly balance: string;
  readonly plan: PlanId;
  readonly used: Readonly<Record<Kind, number>>;
  /** The allowance left; it shows the order of two concurrent operations even if both orders give the same usage. */
  readonly included: Readonly<Record<Kind, number | null>>;
  readonly subscription: {
    readonly plan: PlanId;
    readonly interval: Interval;
    readonly status: ModelSubscription["status"];
    readonly start: number;
    readonly end: number;
    readonly isCancelled: boolean;
  } | null;
}

export function modelBooks(model: Model, now: Date): Books {
  const { subscription } = model;
  const time = now.getTime();
  const used = (kind: Kind) => meterOf(model, kind, time).used;
  return {
    balance: money(model.balance),
    plan: model.plan,
    used: { email: used("email"), validation: used("validation") },
    included: { email: includedIn(model, "email", time), validation: includedIn(model, "validation", time) },
    subscription: subscription && {
      plan: subscription.plan,
      interval: subscription.interval,
      status: subscription.status,
      start: subscription.start,
      end: subscription.end,
      isCancelled: subscription.isCancelled,
    },
  };
}

function money(micros: bigint): string {
  return `${micros / 1_000_000n}.${String(micros % 1_000_000n).padStart(6, "0")}`;
}

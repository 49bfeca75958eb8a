/** Notices about the subscription, the allowances and the balance of a workspace. */
import { Big } from "big.js";
import { counted } from "#platform/count-phrase.ts";
import { DAY_MS } from "#platform/time-units.ts";
import { type MeterReading, meterReadingOf, quotaOf } from "#workspace/billing/derive-meter-reading.ts";
import { formatMoney } from "#workspace/billing/format-money.ts";
import { capacityOf, refusalOf, remainingOf } from "#workspace/billing/meter-arithmetic.ts";
import { type Account, allowancePeriod, type Subscription } from "#workspace/billing/plan-of-account.ts";
import { type MeterKind, meterKinds, type Plans } from "#workspace/billing/plans.ts";
import type { BillingState } from "./causes-store.ts";
import type { FoundNotice } from "./notice.ts";

/** An allowance of which this part is used is nearly used up. */
const NEARLY = 0.8;
/** A balance that lasts for fewer days at the present rate is low. */
const ENOUGH_DAYS = 3;
/** The rate is that of these days, today included. */
export const RATE_DAYS = 7;

const words: Readonly<Record<MeterKind, readonly [string, string]>> = {
  email: ["email", "emails"],
  validation: ["validation", "validations"],
  blacklist_check: ["blacklist check", "blacklist checks"],
};

type BillingNotice = Pick<
  FoundNotice,
  "kind" | "severity" | "since" | "title" | "message" | "operation" | "cause"
>;

export function billingNotices(state: BillingState, plans: Plans, now: Date): BillingNotice[] {
  const reading = readingOf(state, plans, now);
  const { subscription } = reading.account;
  const found: BillingNotice[] = [];
  if (subscription !== null && subscription.status !== "active" && subscription.past_due_since !== null) {
    found.push({
      kind: "subscription_past_due",
      severity: "critical",
      since: subscription.past_due_since,
      title: "The subscription could not be renewed",
      message:
        subscription.status === "suspended"
          ? "The balance did not cover the renewal, and the subscription is suspended: the limits of the free plan apply. Top up the balance."
          : "The balance did not cover the renewal. Top it up before the subscription is suspended.",
      operation: "createTopUp",
    });
  }
  for (const kind of meterKinds) found.push(...allowanceNotice(reading, kind));
  found.push(...balanceNotice(reading, state.days, now));
  return found;
}

function readingOf(state: BillingState, plans: Plans, now: Date): MeterReading {
  const { balance, is_prepaid, plan, meters } = state;
  const subscription =
    state.subscription === null ? null : withDates(state.subscription as StoredSubscription);
  // The hourly cap is no matter of billing.
  const account = { balance, is_prepaid, plan, hourly_cap: null, subscription } as Account;
  const { start } = allowancePeriod(account, now);
  const rows = meters.flatMap(({ kind, period_start, ...row }) =>
    Date.parse(period_start) === start.getTime() ? { ...row, kind: kind as MeterKind, used_in_hour: 0 } : [],
  );
  return meterReadingOf(account, plans, now, rows);
}

type StoredSubscription = Omit<Subscription, "anchor" | "current_period_end" | "past_due_since"> & {
  readonly anchor: string;
  readonly current_period_end: string;
  readonly past_due_since: string | null;
};

function withDates(stored: StoredSubscription): Subscription {
  return {
    ...stored,
    anchor: new Date(stored.anchor),
    current_period_end: new Date(stored.current_period_end),
    past_due_since: stored.past_due_since === null ? null : new Date(stored.past_due_since),
  };
}

/** Of a kind whose use stops at the allowance. Where the balance pays for more, its end is what matters. */
function allowanceNotice(reading: MeterReading, kind: MeterKind): BillingNotice[] {
  const quota = quotaOf(reading, kind);
  const { allowance, used } = quota;
  const left = remainingOf(quota);
  if (allowance === null || left === null || refusalOf(quota) === "insufficient_balance") return [];
  if (allowance === 0 || used < NEARLY * allowance) return [];
  const [singular, plural] = words[kind];
  const isUsedUp = left === 0;
  const until = reading.period.end.toISOString().slice(0, 10);
  return [
    {
      kind: isUsedUp ? "allowance_used_up" : "allowance_nearly_used",
      severity: isUsedUp ? "critical" : "warning",
      since: reading.period.start,
      cause: `${kind} ${reading.period.start.toISOString()}`,
      title: `The ${plural} of the plan are ${isUsedUp ? "" : "nearly "}used up`,
      message: `${Math.floor((100 * used) / allowance)} % of the plan's ${counted(allowance, singular, plural)} are used. ${
        isUsedUp ? "More are refused" : "Beyond them, more are refused"
      } until ${until}, unless the plan is changed or the balance is topped up.`,
      operation: "subscribe",
    },
  ];
}

function balanceNotice(reading: MeterReading, days: BillingState["days"], now: Date): BillingNotice[] {
  const quota = quotaOf(reading, "email");
  if (refusalOf(quota) !== "insufficient_balance") return [];
  const { balance } = reading.account;
  if (capacityOf(quota) === 0) {
    const { start } = reading.period;
    return [
      {
        kind: "balance_used_up",
        severity: "critical",
        since: lastDay(days) ?? start,
        cause: lastDay(days)?.toISOString() ?? start.toISOString(),
        title: "The balance is used up",
        message:
          "The emails of the plan are used, and the balance covers no more: emails are refused. Top it up.",
        operation: "createTopUp",
      },
    ];
  }
  const rate = ratePerDay(days, now);
  const least = rate.times(ENOUGH_DAYS);
  if (rate.eq(0) || least.lte(balance)) return [];
  const since = lowSince(days, new Big(balance), least);
  const lasts = new Big(balance).div(rate).toNumber();
  const forDays = lasts < 1 ? "less than a day" : `about ${counted(Math.round(lasts), "day")}`;
  return [
    {
      kind: "balance_low",
      severity: "warning",
      since,
      title: `The balance lasts for ${forDays}`,
      message: `The balance is $${formatMoney(balance)}, and the last days cost $${formatMoney(rate.toFixed(6))} a day. Top it up before emails are refused.`,
      operation: "createTopUp",
    },
  ];
}

const startOf = (day: string) => new Date(`${day}T00:00:00Z`);

/** The last day on which the balance changed. */
function lastDay(days: BillingState["days"]): Date | undefined {
  const last = days.at(-1);
  return last && startOf(last.day);
}

/** USD a day: the mean since the first day with usage. */
function ratePerDay(days: BillingState["days"], now: Date): Big {
  const used = days.filter(({ spent }) => !new Big(spent).eq(0));
  const [first] = used;
  if (first === undefined) return new Big(0);
  const count = Math.min(RATE_DAYS, 1 + Math.floor((now.getTime() - startOf(first.day).getTime()) / DAY_MS));
  return used.reduce((sum, { spent }) => sum.plus(spent), new Big(0)).div(Math.max(1, count));
}

/** The first of the last days in a row at whose end the balance was too low; null if it was low before them. */
function lowSince(days: BillingState["days"], balance: Big, least: Big): Date | null {
  let atEnd = balance;
  let since: Date | null = null;
  for (const { day, moved } of days.toReversed()) {
    if (atEnd.gte(least)) return since;
    since = startOf(day);
    atEnd = atEnd.minus(moved);
  }
  return atEnd.gte(least) ? since : null;
}

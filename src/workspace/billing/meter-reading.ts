/** What the meter of a workspace says, and what it says after some use: arithmetic, without a database. */
import { Big } from "big.js";
import { type Account, allowancePeriod, planOf } from "./account.ts";
import type { DailyCharge } from "./ledger-store.ts";
import type { Period } from "./periods.ts";
import { type MeterKind, meterKinds, type Plan, type Plans } from "./plans.ts";
import { capacityOf, chargedOf, freeOf, type LimitReason, type MeterQuota, refusalOf } from "./quota.ts";

export interface MeterReading {
  readonly account: Account;
  readonly plan: Plan;
  readonly period: Period;
  /** The beginning of the hour that is read. */
  readonly hour: Date;
  /** Below zero where more came back than was used. */
  readonly used: Readonly<Record<MeterKind, number>>;
  /** USD, for what lay beyond the allowance. */
  readonly paid: Readonly<Record<MeterKind, string>>;
  /** The least that is included: what a bigger plan covered earlier in the period stays so. */
  readonly covered: Readonly<Record<MeterKind, number>>;
  readonly usedInHour: Readonly<Record<MeterKind, number>>;
}

/** What was used, or given back, in an hour of one period. */
export interface Use {
  readonly kind: MeterKind;
  readonly hour: Date;
  /** When the last of it was. */
  readonly last: Date;
  readonly taken: number;
  readonly given_back: number;
}

/** As it was noted, with the bytes of contents that were stored. */
export interface UnappliedUse extends Use {
  readonly bytes: number;
}

/** What can still be used. */
export interface Capacity {
  /** Null is no limit. */
  readonly most: number | null;
  /** Why not more. */
  readonly refusal: LimitReason | "hourly_cap";
}

export function hourOf(time: Date): Date {
  return new Date(time.getTime() - (time.getTime() % HOUR_MS));
}

/** When the hour of `time` is over. */
export function nextHour(time: Date): Date {
  return new Date(hourOf(time).getTime() + HOUR_MS);
}

const HOUR_MS = 3_600_000;

/** One value for each kind. */
function byKind<Value>(of: (kind: MeterKind) => Value): Record<MeterKind, Value> {
  return { email: of("email"), validation: of("validation"), blacklist_check: of("blacklist_check") };
}

/** A row of the meter. */
export interface MeterRow {
  readonly kind: MeterKind;
  readonly used: number;
  readonly paid: string;
  readonly covered: number;
  readonly used_in_hour: number;
}

/**
 * The meter of the period that `now` falls into, as it stands in the table. What was used and cost nothing, and is more
 * than the plan includes, a bigger plan has covered: it is included for the rest of the period, also when it comes back
 * and is used again. So while a plan holds for all of a period, the order of what is taken and given back does not change
 * what that costs; over changes of plan, no more is paid for than once lay beyond an allowance.
 */
export function meterReadingOf(
  account: Account,
  plans: Plans,
  now: Date,
  rows: readonly MeterRow[] = [],
): MeterReading {
  const rowOf = (kind: MeterKind) => rows.find((row) => row.kind === kind);
  const reading = {
    account,
    plan: planOf(account, plans, now),
    period: allowancePeriod(account, now),
    hour: hourOf(now),
    used: byKind((kind) => rowOf(kind)?.used ?? 0),
    paid: byKind((kind) => rowOf(kind)?.paid ?? "0"),
    covered: byKind((kind) => rowOf(kind)?.covered ?? 0),
    usedInHour: byKind((kind) => rowOf(kind)?.used_in_hour ?? 0),
  };
  const coveredOf = (kind: MeterKind) => {
    const standing = quotaOf(reading, kind);
    const free = freeOf(standing);
    return standing.allowance !== null && free > standing.allowance ? free : reading.covered[kind];
  };
  return { ...reading, covered: byKind(coveredOf) };
}

export function quotaOf({ account, plan, used, paid, covered }: MeterReading, kind: MeterKind): MeterQuota {
  const allowance = plan.allowances[kind];
  return {
    used: used[kind],
    allowance: allowance === null ? null : Math.max(allowance, covered[kind]),
    rate: plan.rates[kind],
    paid: paid[kind],
    balance: account.balance,
    isPaying: account.is_prepaid || plan.id !== "free",
  };
}

/** Allowance, balance and, where one is set, the hourly cap. Blacklist checks send nothing and know no cap. */
export function capacityFor(reading: MeterReading, kind: MeterKind): Capacity {
  const standing = quotaOf(reading, kind);
  const most = capacityOf(standing);
  const cap = kind === "blacklist_check" ? null : reading.account.hourly_cap;
  const leftInHour = cap === null ? null : Math.max(0, cap - reading.usedInHour[kind]);
  if (leftInHour !== null && (most === null || leftInHour < most)) {
    return { most: leftInHour, refusal: "hourly_cap" };
  }
  return { most, refusal: refusalOf(standing) };
}

/** The meter after use, and what the ledger has to be told. */
export function afterUse(
  before: MeterReading,
  uses: readonly Use[],
): { readonly reading: MeterReading; readonly movements: readonly DailyCharge[] } {
  let reading = before;
  const movements: DailyCharge[] = [];
  const move = (kind: MeterKind, quantity: number, transaction_type: "usage" | "refund") => {
    const { account, used, paid } = reading;
    const standing = quotaOf(reading, kind);
    const charged = chargedOf(standing, quantity);
    reading = { ...reading, used: { ...used, [kind]: used[kind] + quantity } };
    const { rate } = standing;
    if (rate === null || charged === 0) return;
    const cost = new Big(rate).times(charged);
    const balance = new Big(account.balance).minus(cost).toFixed(6);
    const paidNow = new Big(paid[kind]).plus(cost).toFixed(6);
    reading = { ...reading, account: { ...account, balance }, paid: { ...paid, [kind]: paidNow } };
    movements.push({
      transaction_type,
      kind,
      quantity: Math.abs(charged),
      unit_rate: rate,
      amount: cost.times(-1).toFixed(6),
      description: descriptions[transaction_type](kind),
    });
  };
  for (const kind of meterKinds) {
    const ofKind = uses.filter((use) => use.kind === kind);
    const sum = (of: "taken" | "given_back") => ofKind.reduce((total, use) => total + use[of], 0);
    move(kind, sum("taken"), "usage");
    move(kind, -sum("given_back"), "refund");
    const inHour = ofKind.filter(({ hour }) => hour.getTime() === reading.hour.getTime());
    const taken = inHour.reduce((total, use) => total + use.taken, reading.usedInHour[kind]);
    reading = { ...reading, usedInHour: { ...reading.usedInHour, [kind]: taken } };
  }
  return { reading, movements };
}

const nouns: Readonly<Record<MeterKind, string>> = {
  email: "emails",
  validation: "validations",
  blacklist_check: "blacklist checks",
};

const descriptions = {
  usage: (kind: MeterKind) => `Usage: ${nouns[kind]} beyond the allowance`,
  refund: (kind: MeterKind) => `Refund: ${nouns[kind]} that were taken and not carried out`,
};

/**
 * Derives the reading of a workspace's meter from its rows, and the reading after further usage. Pure functions,
 * without a database.
 */
import { Big } from "big.js";
import { HOUR_MS } from "#platform/time-units.ts";
import type { DailyCharge } from "./ledger-store.ts";
import {
  capacityOf,
  chargedOf,
  freeOf,
  type LimitReason,
  type MeterQuota,
  refusalOf,
} from "./meter-arithmetic.ts";
import type { Period } from "./periods.ts";
import { type Account, allowancePeriod, planOf } from "./plan-of-account.ts";
import { type MeterKind, meterKinds, type Plan, type Plans } from "./plans.ts";

export interface MeterReading {
  readonly account: Account;
  readonly plan: Plan;
  readonly period: Period;
  /** Start of the hour that was read. */
  readonly hour: Date;
  /** Units used; negative when more was refunded than used. */
  readonly used: Readonly<Record<MeterKind, number>>;
  /** USD paid for usage beyond the allowance. */
  readonly paid: Readonly<Record<MeterKind, string>>;
  /** Units that a bigger plan covered earlier in the period: they stay included under a smaller one. */
  readonly covered: Readonly<Record<MeterKind, number>>;
  readonly usedInHour: Readonly<Record<MeterKind, number>>;
}

/** Usage and refunds in one hour of a period. */
export interface Use {
  readonly kind: MeterKind;
  readonly hour: Date;
  /** Time of the last of it. */
  readonly last: Date;
  readonly taken: number;
  readonly given_back: number;
}

/** Usage of entries that are not yet in the meter, with the bytes of contents stored. */
export interface UnappliedUse extends Use {
  readonly bytes: number;
}

/** What can still be used, and which limit stops it. */
export interface Capacity {
  /** Null is no limit. */
  readonly most: number | null;
  /** The limit that applies. */
  readonly refusal: LimitReason | "hourly_cap";
}

export function hourOf(time: Date): Date {
  return new Date(time.getTime() - (time.getTime() % HOUR_MS));
}

/** Start of the next hour. */
export function nextHour(time: Date): Date {
  return new Date(hourOf(time).getTime() + HOUR_MS);
}

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
 * The meter of the period that contains `now`, from its rows.
 * Usage that cost nothing and exceeds the allowance was covered by a bigger plan: it stays included for the rest of the
 * period, also when it is refunded and used again. So under one plan the order of usage and refunds does not change the
 * cost; across plan changes, nothing is paid that was never beyond an allowance.
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
    const quota = quotaOf(reading, kind);
    const free = freeOf(quota);
    return quota.allowance !== null && free > quota.allowance ? free : reading.covered[kind];
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

/**
 * What allowance, balance and hourly cap leave. Blacklist checks send no mail, so the hourly cap does not apply to
 * them.
 */
export function capacityFor(reading: MeterReading, kind: MeterKind): Capacity {
  const quota = quotaOf(reading, kind);
  const most = capacityOf(quota);
  const cap = kind === "blacklist_check" ? null : reading.account.hourly_cap;
  const leftInHour = cap === null ? null : Math.max(0, cap - reading.usedInHour[kind]);
  if (leftInHour !== null && (most === null || leftInHour < most)) {
    return { most: leftInHour, refusal: "hourly_cap" };
  }
  return { most, refusal: refusalOf(quota) };
}

/** The meter after some usage, and the charges and refunds for the ledger. */
export function afterUse(
  before: MeterReading,
  uses: readonly Use[],
): { readonly reading: MeterReading; readonly movements: readonly DailyCharge[] } {
  let reading = before;
  const movements: DailyCharge[] = [];
  const move = (kind: MeterKind, quantity: number, transaction_type: "usage" | "refund") => {
    const { account, used, paid } = reading;
    const quota = quotaOf(reading, kind);
    const charged = chargedOf(quota, quantity);
    reading = { ...reading, used: { ...used, [kind]: used[kind] + quantity } };
    const { rate } = quota;
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

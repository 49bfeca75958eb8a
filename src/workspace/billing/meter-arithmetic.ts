/**
 * Arithmetic of the meter: what may still be used, which limit stops usage, and what usage costs. Quantities are
 * integers; money is exact decimals (USD, at most six places).
 */
import { Big } from "big.js";

/** One kind of usage in its period, with what limits it. */
export interface MeterQuota {
  readonly used: number;
  /** Units included; null is no limit. */
  readonly allowance: number | null;
  /** Price of a unit beyond the allowance; null: usage stops at the allowance. */
  readonly rate: string | null;
  /** USD, the cost of the period's usage so far. */
  readonly paid: string;
  readonly balance: string;
  /** Whether the workspace may pay for usage beyond the allowance: it subscribes to a plan, or has topped up once. */
  readonly isPaying: boolean;
}

/** The limit that is reached, in the words of a campaign's `pause_reason`. */
export type LimitReason = "plan_limit_reached" | "insufficient_balance";

/**
 * Units left that cost nothing: included units, and units that were paid for and then refunded while a bigger plan
 * covered them; null is no limit.
 */
export function remainingOf(quota: MeterQuota): number | null {
  const { used, allowance } = quota;
  return allowance === null ? null : Math.max(0, allowance + paidUnitsOf(quota) - used);
}

/** Units left, with and without charge; null is no limit. */
export function capacityOf(quota: MeterQuota): number | null {
  const { rate, balance, isPaying } = quota;
  const remaining = remainingOf(quota);
  if (remaining === null || rate === null || !isPaying) return remaining;
  return isFree(rate) ? null : remaining + wholeUnits(balance, rate);
}

export function refusalOf({ rate, isPaying }: MeterQuota): LimitReason {
  return rate !== null && isPaying ? "insufficient_balance" : "plan_limit_reached";
}

/** Used units that were not paid for. */
export function freeOf(quota: MeterQuota): number {
  return quota.used - paidUnitsOf(quota);
}

/**
 * How many of the next `quantity` units are charged; negative for refunds.
 * Units that were paid under a smaller plan and refunded under a bigger one are not charged again. Units that an
 * earlier, wider limit let through and the balance does not cover are not owed. Units that were never paid, under
 * another plan, are not refunded.
 */
export function chargedOf(quota: MeterQuota, quantity: number): number {
  const { used, allowance, rate, balance, isPaying } = quota;
  if (allowance === null || rate === null || !isPaying || isFree(rate)) return 0;
  const before = Math.max(0, used - allowance);
  const after = Math.max(0, used + quantity - allowance);
  const paid = paidUnitsOf(quota);
  return quantity < 0
    ? -Math.min(before - after, paid)
    : Math.min(Math.max(0, after - Math.max(before, paid)), wholeUnits(balance, rate));
}

function paidUnitsOf({ paid, rate }: MeterQuota): number {
  return rate === null || isFree(rate) ? 0 : wholeUnits(paid, rate);
}

function isFree(rate: string): boolean {
  return new Big(rate).eq(0);
}

function wholeUnits(money: string, rate: string): number {
  return Number(new Big(money).div(rate).round(0, Big.roundDown));
}

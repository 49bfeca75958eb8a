/**
 * The arithmetic of the meter: what may still be used, why no more, and what use costs. Quantities are whole numbers,
 * money is exact decimals (USD, at most six places).
 */
import { Big } from "big.js";

/** How one kind of use stands in its period. */
export interface MeterQuota {
  readonly used: number;
  /** What is included; null is no limit. */
  readonly allowance: number | null;
  /** For one beyond the allowance; null: there is none beyond it. */
  readonly rate: string | null;
  /** USD, what the period's use has cost so far. */
  readonly paid: string;
  readonly balance: string;
  /** Whether the workspace pays for what goes beyond: it subscribes to a plan, or topped up once. */
  readonly isPaying: boolean;
}

/** Why there is no more: the words a campaign gives as its pause_reason. */
export type LimitReason = "plan_limit_reached" | "insufficient_balance";

/**
 * How many more cost nothing, because they are included, or were paid for and came back where a bigger plan had them
 * covered; null is no limit.
 */
export function remainingOf(standing: MeterQuota): number | null {
  const { used, allowance } = standing;
  return allowance === null ? null : Math.max(0, allowance + paidUnitsOf(standing) - used);
}

/** How many more may be used; null is no limit. */
export function capacityOf(standing: MeterQuota): number | null {
  const { rate, balance, isPaying } = standing;
  const remaining = remainingOf(standing);
  if (remaining === null || rate === null || !isPaying) return remaining;
  return isGratis(rate) ? null : remaining + wholeUnits(balance, rate);
}

export function refusalOf({ rate, isPaying }: MeterQuota): LimitReason {
  return rate !== null && isPaying ? "insufficient_balance" : "plan_limit_reached";
}

/** How many of the used ones were not paid for. */
export function freeOf(standing: MeterQuota): number {
  return standing.used - paidUnitsOf(standing);
}

/**
 * How many of the next `quantity` are paid for (or, below zero, how many of those given back are paid back). What was paid
 * for under a smaller plan and came back under a bigger one is not paid for again. What a wider limit of a moment ago let
 * through and the balance does not cover is not owed; what was never paid for, under another plan, is not paid back.
 */
export function chargedOf(standing: MeterQuota, quantity: number): number {
  const { used, allowance, rate, balance, isPaying } = standing;
  if (allowance === null || rate === null || !isPaying || isGratis(rate)) return 0;
  const before = Math.max(0, used - allowance);
  const after = Math.max(0, used + quantity - allowance);
  const paid = paidUnitsOf(standing);
  return quantity < 0
    ? -Math.min(before - after, paid)
    : Math.min(Math.max(0, after - Math.max(before, paid)), wholeUnits(balance, rate));
}

function paidUnitsOf({ paid, rate }: MeterQuota): number {
  return rate === null || isGratis(rate) ? 0 : wholeUnits(paid, rate);
}

function isGratis(rate: string): boolean {
  return new Big(rate).eq(0);
}

function wholeUnits(money: string, rate: string): number {
  return Number(new Big(money).div(rate).round(0, Big.roundDown));
}

/**
 * The arithmetic of the meter: what may still be used, why no more, and what use costs. Quantities are whole numbers,
 * money is exact decimals (USD, at most six places).
 */
import { Big } from "big.js";

/** How one kind of use stands in its period. */
export interface Standing {
  readonly used: number;
  /** What is included; null is no limit. */
  readonly allowance: number | null;
  /** For one beyond the allowance; null: there is none beyond it. */
  readonly rate: string | null;
  readonly balance: string;
  /** Whether the workspace pays for what goes beyond: it subscribes to a plan, or topped up once. */
  readonly isPaying: boolean;
}

/** Why there is no more: the words a campaign gives as its pause_reason. */
export type Refusal = "plan_limit_reached" | "insufficient_balance";

/** How many more may be used; null is no limit. */
export function capacityOf({ used, allowance, rate, balance, isPaying }: Standing): number | null {
  if (allowance === null) return null;
  const included = Math.max(0, allowance - used);
  if (rate === null || !isPaying) return included;
  if (new Big(rate).eq(0)) return null;
  return included + wholeUnits(balance, rate);
}

export function refusalOf({ rate, isPaying }: Standing): Refusal {
  return rate !== null && isPaying ? "insufficient_balance" : "plan_limit_reached";
}

/** How many of the next `quantity` (or, below zero, of those given back) lie beyond the allowance. */
function overageOf({ used, allowance }: Standing, quantity: number): number {
  if (allowance === null) return 0;
  return Math.max(0, used + quantity - allowance) - Math.max(0, used - allowance);
}

/** How many of the used ones were not paid for. @param paid as in chargedOf */
export function freeOf({ used, rate }: Standing, paid: string): number {
  return rate === null || new Big(rate).eq(0) ? used : used - wholeUnits(paid, rate);
}

/**
 * How many of them are paid for (or, below zero, paid back). What a wider limit of a moment ago let through and the
 * balance does not cover is not owed; what was never paid for, under another plan, is not paid back.
 * @param paid USD, what this period's use has cost so far
 */
export function chargedOf(standing: Standing, quantity: number, paid: string): number {
  const { rate, isPaying, balance } = standing;
  if (rate === null || !isPaying || new Big(rate).eq(0)) return 0;
  const overage = overageOf(standing, quantity);
  return overage < 0
    ? -Math.min(-overage, wholeUnits(paid, rate))
    : Math.min(overage, wholeUnits(balance, rate));
}

function wholeUnits(money: string, rate: string): number {
  return Number(new Big(money).div(rate).round(0, Big.roundDown));
}

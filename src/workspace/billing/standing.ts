/**
 * The arithmetic of the meter: what may still be used, why no more, and what use costs. Quantities are whole numbers,
 * money is exact decimals (USD, at most six places).
 */
import { Big } from "big.js";

/** How one kind of use stands in its period. */
export interface Standing {
  readonly used: number;
  /** Null is no limit. */
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
  return included + Number(new Big(balance).div(rate).round(0, Big.roundDown));
}

export function refusalOf({ rate, isPaying }: Standing): Refusal {
  return rate !== null && isPaying ? "insufficient_balance" : "plan_limit_reached";
}

/** How many of the next `quantity` (or, below zero, of those given back) lie beyond the allowance. */
export function overageOf({ used, allowance }: Standing, quantity: number): number {
  if (allowance === null) return 0;
  return Math.max(0, used + quantity - allowance) - Math.max(0, used - allowance);
}

/** What that costs; below zero when it comes back. */
export function costOf(standing: Standing, quantity: number): Big {
  if (standing.rate === null || !standing.isPaying) return new Big(0);
  return new Big(standing.rate).times(overageOf(standing, quantity));
}

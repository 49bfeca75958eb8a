/** Compares a cost of the large installation with that of a small one, by turns. */
import { type Figure, median } from "../table.ts";

const ROUNDS = 11;
const MOST_RATIO = 1.5;

/** What is compared, and the aim. */
export interface Comparison {
  readonly what: string;
  /** What the small installation has, after "with". */
  readonly beside?: string;
  /** How many times longer the large installation may take; null: no aim. */
  readonly mostRatio?: number | null;
  /** Milliseconds that the large installation may take. */
  readonly mostMs?: number;
}

/** Compares medians. The first round only fills caches. */
export async function compare<Side>({
  large,
  small,
  cost,
  rounds = ROUNDS,
  ...comparison
}: Comparison & {
  readonly large: Side;
  readonly small: Side;
  /** Does the work and returns how long it took, in milliseconds. */
  readonly cost: (side: Side) => Promise<number>;
  readonly rounds?: number;
}): Promise<Figure> {
  const costs: { readonly large: number; readonly small: number }[] = [];
  for (let round = 0; round <= rounds; round++) {
    const pair = { small: await cost(small), large: await cost(large) };
    if (round > 0) costs.push(pair);
  }
  return figureOf(comparison, median(costs.map((one) => one.large)), median(costs.map((one) => one.small)));
}

/** @param large milliseconds of the large installation */
export function figureOf(
  { what, beside = "a hundredth", mostRatio = MOST_RATIO, mostMs = Number.POSITIVE_INFINITY }: Comparison,
  large: number,
  small: number,
): Figure {
  const ratio = large / small;
  const most = Number.isFinite(mostMs) ? `, < ${mostMs} ms` : "";
  return {
    what,
    measured: milliseconds(large),
    yardstick: `${milliseconds(small)} with ${beside}`,
    ratio,
    aim: mostRatio === null ? "" : `≤ ${mostRatio} times${most}`,
    isMet: mostRatio === null ? null : ratio <= mostRatio && large < mostMs,
  };
}

function milliseconds(ms: number): string {
  return `${ms.toFixed(ms < 10 ? 2 : ms < 100 ? 1 : 0)} ms`;
}

/** How long the work takes, in milliseconds. */
export async function timeOf(work: () => Promise<unknown>): Promise<number> {
  const from = performance.now();
  await work();
  return performance.now() - from;
}

/** Whole numbers below `end`: up to `most` different ones in random order, each as often as the others. */
export function spreadNumbers(count: number, end: number, most = count): number[] {
  const different = new Set<number>();
  while (different.size < Math.min(most, end)) different.add(Math.floor(Math.random() * end));
  const numbers = [...different];
  return Array.from({ length: count }, (_, at) => numbers[at % numbers.length] ?? 0);
}

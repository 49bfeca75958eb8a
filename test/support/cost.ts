/**
 * CPU time as a ratio within one run. It holds on every machine, under any load, where a limit in milliseconds says only
 * how fast a machine is.
 */
import { expect } from "vitest";
import { workedMs } from "./cpu-time.ts";

/** Quadratic cost of four times the input would be sixteen times as much. */
const LINEAR = 8;
/** Cost that does not depend on the input, against four times as much if it did. */
const CONSTANT = 2;
/** What a collection of garbage and the caches of a busy processor add. */
const NOISE_MS = 100;
const TRIES = 3;

/**
 * Fails if four times the input costs more than eight times the CPU time, in the best of three tries. `size` has to be so
 * large that quadratic cost would be seconds.
 */
export function expectLinearCost<Input>(
  size: number,
  inputOf: (size: number) => Input,
  work: (input: Input) => unknown,
): void {
  expectGrowth(LINEAR, [inputOf(size), inputOf(4 * size)], work);
}

/** Fails if four times the input costs more than twice the CPU time, in the best of three tries. */
export function expectConstantCost<Input>(
  size: number,
  inputOf: (size: number) => Input,
  work: (input: Input) => unknown,
): void {
  expectGrowth(CONSTANT, [inputOf(size), inputOf(4 * size)], work);
}

/** CPU time of this thread in milliseconds. */
export function costOf(work: () => unknown): number {
  const from = workedMs();
  work();
  return workedMs() - from;
}

/**
 * The share of this thread in the CPU time that the process takes for the work: near 1 if the work is done here, small if
 * another thread does it and this one stays free for other requests.
 */
export async function shareOfThisThread(work: () => Promise<unknown>): Promise<number> {
  const [ofThread, ofProcess] = [process.threadCpuUsage(), process.cpuUsage()];
  await work();
  const [here, everywhere] = [process.threadCpuUsage(ofThread), process.cpuUsage(ofProcess)];
  return (here.user + here.system) / (everywhere.user + everywhere.system);
}

function expectGrowth<Input>(
  most: number,
  [few, many]: readonly [Input, Input],
  work: (input: Input) => unknown,
): void {
  let [ofFew, ofMany] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
  for (let tries = 0; tries < TRIES; tries++) {
    // The first run compiles; what it adds would hide a growth.
    ofFew = Math.min(ofFew, ...[1, 2].map(() => costOf(() => work(few))));
    const cost = costOf(() => work(many));
    ofMany = Math.min(ofMany, cost);
    if (ofMany <= most * ofFew + NOISE_MS) return;
  }
  expect(ofMany, `CPU time of four times the input, against ${ofFew} ms`).toBeLessThanOrEqual(
    most * ofFew + NOISE_MS,
  );
}

import { expect, test } from "vitest";
import { expectConstantCost, expectLinearCost, shareOfThisThread } from "./cost.ts";

/** Reads each octet `times` times. */
function read(octets: Buffer, times: number): number {
  let sum = 0;
  for (let time = 0; time < times; time++) for (const octet of octets) sum += octet;
  return sum;
}

const zeros = (size: number) => Buffer.alloc(size);

test("linear cost is linear and not constant, and quadratic cost is not linear", () => {
  const linear = (octets: Buffer) => read(octets, 200);
  const quadratic = (octets: Buffer) => read(octets, octets.length / 100);
  expectLinearCost(200_000, zeros, linear);
  expect(() => expectConstantCost(200_000, zeros, linear)).toThrow("CPU time of four times the input");
  expect(() => expectLinearCost(60_000, zeros, quadratic)).toThrow("CPU time of four times the input");
});

test("work in this thread has nearly all of the CPU time", async () => {
  const share = await shareOfThisThread(async () => read(Buffer.alloc(1_000_000), 50));
  expect(share).toBeGreaterThan(0.7);
});

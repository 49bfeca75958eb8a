import { expect, test } from "vitest";
import { workedMs } from "#test/support/cpu-time.ts";
import { RenderBudget } from "./render-budget.ts";

function work(milliseconds: number): void {
  const until = workedMs() + milliseconds;
  while (workedMs() < until);
}

test("work that is not counted is stopped by CPU time", () => {
  const budget = new RenderBudget();
  expect(() => {
    for (let part = 0; part < 90; part++) {
      budget.use(10_000);
      work(10);
    }
  }).toThrow("it takes too long");
});

test("negative costs and values that are not numbers do not change the budget", () => {
  const budget = new RenderBudget();
  budget.use(-1e12);
  budget.use(Number.NaN);
  budget.use(["1"]);
  expect(() => budget.use(1_000_000)).toThrow("it handles too much text");
});

test("each rendering has its own budget", () => {
  const budget = new RenderBudget();
  for (let mail = 0; mail < 10; mail++) {
    budget.begin();
    budget.use(900_000);
  }
});

import { expect, test } from "vitest";
import { RestPauses } from "./dump-database.ts";

function work(ms: number): void {
  const until = performance.now() + ms;
  while (performance.now() < until);
}

async function secondsOfRest(pauses: RestPauses): Promise<number> {
  const since = performance.now();
  await pauses.restIfDue();
  return (performance.now() - since) / 1000;
}

test("a backup rests as long as it has worked, again and again, and not after a moment of work", async () => {
  const pauses = new RestPauses();
  for (const ms of [100, 200]) {
    work(ms);
    // A timer may be a millisecond early.
    expect(await secondsOfRest(pauses)).toBeGreaterThan((0.9 * ms) / 1000);
  }
  const isAtOnce = pauses.restIfDue().then(() => true);
  expect(await Promise.race([isAtOnce, new Promise(setImmediate).then(() => false)])).toBe(true);
});

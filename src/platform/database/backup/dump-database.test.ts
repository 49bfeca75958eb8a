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
  // On a busy machine even a moment may be long.
  const areAtOnce: boolean[] = [];
  for (let times = 0; times < 10; times++) {
    const rest = pauses.restIfDue().then(() => true);
    areAtOnce.push(await Promise.race([rest, new Promise(setImmediate).then(() => false)]));
    await rest;
  }
  expect(areAtOnce).toContain(true);
});

test("a backup whose output has stalled does not rest as long as the stall", async () => {
  const pauses = new RestPauses();
  work(1_000);
  expect(await secondsOfRest(pauses)).toBeLessThan(0.8);
});

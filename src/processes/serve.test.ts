import { pino } from "pino";
import { expect, test } from "vitest";
import { settlesWithin } from "./serve.ts";

test("a stop waits for every component, also for one that fails, but not longer than the time it is given", async () => {
  const logged: string[] = [];
  const log = pino({ level: "error" }, { write: (line: string) => void logged.push(JSON.parse(line).msg) });
  const failing = Promise.reject(new Error("no"));
  expect(await settlesWithin(10_000, [Promise.resolve(), failing, undefined], log)).toBe(true);
  expect(logged).toEqual(["component failed while stopping"]);
  expect(await settlesWithin(20, [Promise.resolve(), new Promise(() => {})], log)).toBe(false);
});

import { pino } from "pino";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { RepeatedFaults } from "./repeated-faults.ts";

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

function faultsAndLines() {
  const lines: Record<string, unknown>[] = [];
  const log = pino({ level: "info" }, { write: (line: string) => void lines.push(JSON.parse(line)) });
  return { faults: new RepeatedFaults(log, 10_000), lines };
}
const fault = (kind: string) =>
  ({ kind, level: "error", message: "request failed", fields: { err: new Error(kind) } }) as const;

test("a repeated fault has one line with its stack, and then one with a count every ten seconds", () => {
  const { faults, lines } = faultsAndLines();
  for (let at = 0; at < 1_000; at++) faults.note(fault("away"), at % 2 ? "sendEmail" : "listLists");
  expect(lines).toHaveLength(1);
  expect(lines[0]).toMatchObject({
    msg: "request failed",
    err: { message: "away", stack: expect.any(String) },
  });
  vi.advanceTimersByTime(10_000);
  expect(lines).toHaveLength(2);
  expect(lines[1]).toMatchObject({
    msg: "request failed, 999 times more in 10 s",
    more: 999,
    operations: { sendEmail: 500, listLists: 499 },
  });
  expect(lines[1]).not.toHaveProperty("err");
  faults.note(fault("away"), "sendEmail");
  vi.advanceTimersByTime(10_000);
  expect(lines[2]).toMatchObject({ more: 1 });
});

test("different faults are logged separately, and one that paused is logged in full again", () => {
  const { faults, lines } = faultsAndLines();
  faults.note(fault("one"), "a");
  faults.note(fault("other"), "a");
  expect(lines).toHaveLength(2);
  vi.advanceTimersByTime(20_000);
  expect(lines).toHaveLength(2);
  faults.note(fault("one"), "a");
  expect(lines[2]).toMatchObject({ err: { message: "one" } });
});

test("the number of lines is bounded for any number of kinds", () => {
  const { faults, lines } = faultsAndLines();
  for (let at = 0; at < 5_000; at++) faults.note(fault(`kind ${at}`), "a");
  expect(lines.length).toBeLessThanOrEqual(501);
});

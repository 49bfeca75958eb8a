import { expect, test } from "vitest";
import { UnansweredLookUps } from "./unanswered-lookups.ts";

test("a destination is looked up again for a minute before its mail is deferred, and the minute restarts after an answer or a quarter of an hour", () => {
  let nowMs = 0;
  const unanswered = new UnansweredLookUps(() => nowMs);
  const at = (seconds: number) => {
    nowMs = seconds * 1_000;
    return unanswered.note("a.test");
  };
  expect([at(0), at(30), at(59)]).toEqual([true, true, true]);
  expect(unanswered.note("b.test")).toBe(true);
  expect([at(60), at(300)]).toEqual([false, false]);
  unanswered.forget("a.test");
  expect([at(301), at(370)]).toEqual([true, false]);
  expect(at(301 + 901)).toBe(true);
});

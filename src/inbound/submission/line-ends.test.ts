import { describe, expect, test } from "vitest";
import { expectLinearCost } from "#test/support/cost.ts";
import { withCrlfLines } from "./line-ends.ts";

const MOST = 10_000_000;
const written = (message: string) => withCrlfLines(Buffer.from(message), MOST).toString();

describe("line ends of a submitted message", () => {
  test.each([
    ["a\rb\r", "a\r\nb\r\n"],
    ["a\r\rb", "a\r\n\r\nb\r\n"],
    ["a\r\r\nb\r\n", "a\r\nb\r\n"],
    ["a\r\r\r\nb\n", "a\r\nb\r\n"],
    ["a\n\rb", "a\r\n\r\nb\r\n"],
    ["a\n\r\nb", "a\r\n\r\nb\r\n"],
    ["a\r\r\r", "a\r\n\r\n\r\n"],
    ["\r", "\r\n"],
    ["\n\n", "\r\n\r\n"],
    ["a", "a\r\n"],
    ["", ""],
  ])("%j becomes %j", (given, expected) => {
    expect(written(given)).toBe(expected);
  });

  test.each([
    ["behind text", "a", "b"],
    ["at the end", "a", ""],
    ["before an LF in the end", "a", "b\n"],
  ])("a run of CRs %s is read in linear time", (_, before, behind) => {
    expectLinearCost(
      50_000,
      (run) => [run, `${before}${"\r".repeat(run)}${behind}`] as const,
      ([run, message]) =>
        expect(written(message)).toHaveLength(before.length + 2 * run + (behind === "" ? 0 : 3)),
    );
  });
});

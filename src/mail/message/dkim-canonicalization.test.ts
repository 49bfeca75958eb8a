import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { relaxedBody, relaxedHeader } from "./dkim-canonicalization.ts";

/** The rules of RFC 6376 section 3.4.4, one after the other. */
function bodyByTheBook(body: string): string {
  const lines = body.split("\r\n").map((line) => line.replaceAll(/[\t ]+/g, " ").replace(/ $/, ""));
  while (lines.at(-1) === "") lines.pop();
  return lines.map((line) => `${line}\r\n`).join("");
}

describe("the relaxed body", () => {
  test.each([
    [" C \r\nD \t E\r\n\r\n\r\n", " C\r\nD E\r\n"],
    ["", ""],
    ["\r\n", ""],
    [" \t\r\n\r\n ", ""],
    ["a", "a\r\n"],
    ["a ", "a\r\n"],
    ["a\r\n \r\n", "a\r\n"],
    ["\r\na\r\n", "\r\na\r\n"],
    ["a\nb\r", "a\nb\r\r\n"],
    ["\u00a0\u00ff \u00a0", "\u00a0\u00ff \u00a0\r\n"],
  ])("of %j is %j", (body, relaxed) => {
    expect(relaxedBody(Buffer.from(body, "latin1")).toString("latin1")).toBe(relaxed);
  });

  test("follows the RFC for every body, and is idempotent", () => {
    const pieces = fc.array(fc.constantFrom(" ", "  ", "\t", "\r\n", "\r\n\r\n", "\r", "\n", "a", ".", "ü"));
    fc.assert(
      fc.property(pieces, (parts) => {
        const body = Buffer.from(parts.join(""));
        const relaxed = relaxedBody(body);
        expect(relaxed.toString("latin1")).toBe(bodyByTheBook(body.toString("latin1")));
        expect(relaxedBody(relaxed)).toBe(relaxed);
      }),
      { numRuns: 3000 },
    );
  });
});

describe("the relaxed header", () => {
  test.each([
    ["A", "X", "a:X"],
    ["B", "Y\t\r\n\tZ  ", "b:Y Z"],
    ["SUBJect", "  two   words\r\n folded ", "subject:two words folded"],
    ["X", "\u00a0Ü ", "x:\u00a0Ü"],
    ["X", "", "x:"],
    ["X", "\t", "x:"],
    ["X", " \r\n ", "x:"],
  ])("of %s: %j is %j", (name, value, relaxed) => {
    expect(relaxedHeader(name, value)).toBe(relaxed);
  });

  test("does not change if a relay folds at other places", () => {
    const words = fc.array(fc.stringMatching(/^[!-~]{1,10}$/), { minLength: 1 });
    const blanks = fc.constantFrom(" ", "  ", "\t", "\r\n ", "\r\n\t", " \r\n  ");
    fc.assert(
      fc.property(words, blanks, (parts, blank) => {
        expect(relaxedHeader("X", parts.join(blank))).toBe(`x:${parts.join(" ")}`);
      }),
    );
  });
});

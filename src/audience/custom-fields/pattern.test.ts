import { expect, test } from "vitest";
import { compilePattern } from "./pattern.ts";

const matches = (source: string, text: string) => {
  const pattern = compilePattern(source);
  return pattern.ok && pattern.matches(text);
};

test.each([
  ["^[A-Z]{2}\\d{4}$", "AB1234", true],
  ["^[A-Z]{2}\\d{4}$", "ab1234", false],
  ["\\bgold\\b", "the gold plan", true],
  ["^\\p{L}+$", "Zoë", true],
])("%s on %s is %s", (source, text, expected) => {
  expect(matches(source, text)).toBe(expected);
});

test.each(["(", "a{2,1}", "(?=x)", "(a)\\1", "x".repeat(501)])("%s is refused, with a reason", (source) => {
  expect(compilePattern(source)).toMatchObject({ ok: false, message: expect.stringMatching(/\w/) });
});

test("a pattern that makes other engines hang is answered", () => {
  expect(matches("^(a+)+$", `${"a".repeat(5_000)}!`)).toBe(false);
});

import { expect, test } from "vitest";
import { compilePattern } from "./validation-pattern.ts";

const matches = (source: string, text: string) => {
  const pattern = compilePattern(source);
  return pattern.ok && pattern.breach(text) === undefined;
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

/** 29 ways of nearly a thousand letters each. */
const huge = (letters: number) =>
  `(?:${Array.from({ length: 29 }, (_, at) => `${"ab".charAt(at % 2)}[ab]{${letters + at}}`).join("|")})[xy]`;

test("a short pattern that compiles to a huge one is refused", () => {
  expect(compilePattern(huge(960))).toMatchObject({
    ok: false,
    message: expect.stringContaining("too large"),
  });
});

test("the larger a pattern, the shorter the texts that it may check; longer ones are refused", () => {
  const pattern = compilePattern(huge(10));
  if (!pattern.ok) throw new Error(pattern.message);
  expect(pattern.breach("ab".repeat(5_000))).toMatch(/^must have at most \d+ characters/);
  expect(pattern.breach(`${"a".repeat(40)}x`)).toBeUndefined();
  expect(pattern.breach("ab".repeat(100))).toMatch(/^must match/);
  const small = compilePattern("^[\\w.+-]+@[\\w-]+$");
  expect(small.ok && small.breach(`${"a".repeat(9_000)}@b`)).toBeUndefined();
});

test("a pattern that makes other engines hang is checked quickly", () => {
  expect(matches("^(a+)+$", `${"a".repeat(5_000)}!`)).toBe(false);
});

import { expect, test } from "vitest";
import { LONGEST_NAME, readName } from "./read-display-name.ts";

test("a name has up to 200 characters of any script, however many units they take", () => {
  const name = "\u{1F600}".repeat(LONGEST_NAME);
  expect(readName(` ${name} `)).toBe(name);
  expect(() => readName(`${name}a`)).toThrow("name must have at most 200 characters");
  expect(() => readName("  ")).toThrow("name must not be blank");
});

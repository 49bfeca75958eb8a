import { expect, test } from "vitest";
import { LONGEST_NAME, plainName, readName } from "./read-display-name.ts";

test("a name has up to 200 characters of any script, however many units they take", () => {
  const name = "\u{1F600}".repeat(LONGEST_NAME);
  expect(readName(` ${name} `)).toBe(name);
  expect(() => readName(`${name}a`)).toThrow("name must have at most 200 characters");
  expect(() => readName("  ")).toThrow("name must not be blank");
});

test("a name shows, on one line and in its own direction; one from elsewhere is cleaned", () => {
  for (const unseen of ["\u202e", "\u200b", "\u2800\u00ad", "\u3164"]) {
    expect(() => readName(unseen)).toThrow("name must not be blank");
    expect(plainName(unseen)).toBe("");
  }
  for (const unfit of ["Ann\u202egro.elpmaxe@live", "a\u2028b", "a\u2067b", "a\u0085b", "a\tb"]) {
    expect(() => readName(unfit)).toThrow("name must not contain line breaks, control characters");
    expect(readName(plainName(unfit))).toMatch(/^\S+ \S+$/);
  }
  for (const fit of ["دوستان\u200fن", "👩‍👩‍👧", "می\u200cخواهم", "Zoë"]) expect(readName(fit)).toBe(fit);
});

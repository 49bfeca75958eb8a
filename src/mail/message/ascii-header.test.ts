import { expect, test } from "vitest";
import { expectLinearCost } from "#test/support/cost.ts";
import { asciiField } from "./ascii-header.ts";

test.each([
  ["To", "  Jörg Müller   <a@b.test>", "=?UTF-8?B?SsO2cmcgTcO8bGxlcg==?=   <a@b.test>"],
  ["To", "Jörg<a@b.test>", "=?UTF-8?B?SsO2cmc=?=<a@b.test>"],
  ["To", 'x@b.test,  "  Jörg "  <a@b.test>', "x@b.test,    =?UTF-8?B?SsO2cmc=?=   <a@b.test>"],
])("a phrase of %s keeps the surrounding blanks: %j", (name, value, expected) => {
  expect(asciiField(name, value)).toBe(expected);
});

test("blanks within a phrase are read in linear time", () => {
  expectLinearCost(
    40_000,
    (blanks) => `Jörg${" ".repeat(blanks)}Müller <a@b.test>`,
    (value) => expect(asciiField("To", value)).toMatch(/^=\?UTF-8\?B\?.*<a@b\.test>$/s),
  );
});

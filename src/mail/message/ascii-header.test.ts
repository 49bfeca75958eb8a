import { expect, test } from "vitest";
import { asciiField } from "./ascii-header.ts";

test.each([
  ["To", "  Jörg Müller   <a@b.test>", "=?UTF-8?B?SsO2cmcgTcO8bGxlcg==?=   <a@b.test>"],
  ["To", "Jörg<a@b.test>", "=?UTF-8?B?SsO2cmc=?=<a@b.test>"],
  ["To", 'x@b.test,  "  Jörg "  <a@b.test>', "x@b.test,    =?UTF-8?B?SsO2cmc=?=   <a@b.test>"],
])("a phrase of %s keeps the surrounding blanks: %j", (name, value, expected) => {
  expect(asciiField(name, value)).toBe(expected);
});

// Quadratic time would take some seconds.
test("blanks within a phrase are read in linear time", () => {
  const start = process.threadCpuUsage();
  const field = asciiField("To", `Jörg${" ".repeat(150_000)}Müller <a@b.test>`);
  expect(process.threadCpuUsage(start).user / 1_000).toBeLessThan(1_000);
  expect(field).toMatch(/^=\?UTF-8\?B\?.*<a@b\.test>$/s);
});

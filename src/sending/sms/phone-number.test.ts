import { expect, test } from "vitest";
import { phoneIn, readPhoneNumber } from "./phone-number.ts";

test.each([
  ["+49 170 1234567", "+491701234567"],
  ["+49 (0)170 / 123 45 67", "+491701234567"],
  ["0049 170 1234567", "+491701234567"],
  ["0170-1234567", "+491701234567"],
  ["+1 (212) 555-2368", "+12125552368"],
  [1701234567, "+491701234567"],
])("%s is %s", (written, number) => {
  expect(readPhoneNumber(written, "DE")).toBe(number);
});

test.each([
  "",
  "call me",
  "12",
  "+49",
  "+999 123456789",
  "0170 1234567 ext. 9",
  "1".repeat(41),
  null,
  undefined,
  true,
  {},
])("%j is no number", (written) => {
  expect(readPhoneNumber(written, "DE")).toBeNull();
});

test("without a country only numbers with their country code are valid", () => {
  expect(readPhoneNumber("0170 1234567", null)).toBeNull();
  expect(readPhoneNumber("+491701234567", null)).toBe("+491701234567");
});

test("a field may be named as merge tags name it", () => {
  const fields = { phone: "+491701234567" };
  expect(phoneIn(fields, "phone", null)).toBe("+491701234567");
  expect(phoneIn(fields, "custom_fields.phone", null)).toBe("+491701234567");
  expect(phoneIn(null, "phone", null)).toBeNull();
});

import { expect, test } from "vitest";
import type { CustomField } from "#audience/custom-fields/custom-field.ts";
import { DateReader } from "#platform/dates/date-reader.ts";
import { valueReader } from "./check-custom-field-values.ts";

/** Counts what is read. */
class CountingDates extends DateReader {
  count = 0;

  override read(value: unknown): ReturnType<DateReader["read"]> {
    this.count += 1;
    return super.read(value);
  }
}

const some = (count: number, value: unknown) =>
  Object.fromEntries(Array.from({ length: count }, (_, at) => [`k${at}`, value]));
const dateField = { field_name: "k0", field_type: "date", field_options: null, validation_rules: null };

test("more values than a person may have are refused before any is read", () => {
  const dates = new CountingDates({ timeZone: "UTC" });
  const reader = valueReader([dateField as unknown as CustomField], dates);
  expect(() => reader.change(some(501, "2026-01-01"), {})).toThrow(/may hold 500 values/);
  expect(dates.count).toBe(0);
});

test("a person with more values than the limit can be changed, and values can be removed", () => {
  const reader = valueReader([], new DateReader({ timeZone: "UTC" }));
  const held = some(600, "before");
  expect(reader.change(some(600, "after"), held)).toEqual(some(600, "after"));
  expect(reader.change(some(600, null), held)).toEqual({});
  expect(() => reader.change(some(601, "after"), held)).toThrow(/may hold 500 values/);
});

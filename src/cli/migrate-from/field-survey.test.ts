import { expect, test } from "vitest";
import { fieldNameOf } from "./field-names.ts";
import { FieldSurvey } from "./field-survey.ts";
import type { DeclaredField, GivenValue } from "./source.ts";

/** The planned type and choices of one field with these values. */
function planOf(
  name: string,
  values: readonly GivenValue[],
  declared?: Pick<DeclaredField, "type" | "options">,
) {
  const survey = new FieldSurvey();
  if (declared !== undefined) survey.declare(name, { kind: "field", name, label: name, ...declared });
  for (const value of values) survey.note(name, name, value);
  const [field] = survey.plan();
  return field && [field.field_type, field.field_options];
}

test.each<[string, string, readonly GivenValue[], string]>([
  ["numbers", "points", ["7", "-1.5", 3], "number"],
  ["numbers of a telephone", "phone_number", ["4930123456"], "text"],
  ["codes with a zero before them", "plz2", ["01234", "10115"], "text"],
  ["more digits than a number keeps", "big", ["1234567890123456789"], "text"],
  ["days and times", "since", ["2020-01-31", "2020-01-31 10:00:00", "2020-01-31T10:00:00+01:00"], "date"],
  ["a day that does not exist", "since", ["2020-01-31", "2020-02-31"], "text"],
  ["booleans", "vip", [true, false], "boolean"],
  ["words for yes and no", "vip", ["yes", "no"], "text"],
  ["booleans and numbers", "mixed", [true, 1], "text"],
  ["a long text", "note", ["x".repeat(1_001)], "textarea"],
  ["arrays", "langs", [["de"], ["en", "de"]], "multiselect"],
  ["an array with a choice that cannot be one", "langs", [["a;b"]], "text"],
  [
    "arrays with more choices than a field has",
    "ids",
    Array.from({ length: 501 }, (_, at) => [`id${at}`]),
    "text",
  ],
])("%s are a field of the type that takes them all", (_, name, values, type) => {
  expect(planOf(name, values)?.[0]).toBe(type);
});

test("a declared type is kept if every value has it, and is a text otherwise", () => {
  expect(planOf("age", ["41", 42], { type: "number" })).toEqual(["number", null]);
  expect(planOf("age", ["41", "about 50"], { type: "number" })).toEqual(["text", null]);
  expect(planOf("born", ["2020-01-01"], { type: "date" })).toEqual(["date", null]);
  expect(planOf("site", ["no address"], { type: "url" })).toEqual(["text", null]);
  expect(planOf("level", ["gold", "lead"], { type: "select", options: ["silver", "gold"] })).toEqual([
    "select",
    ["silver", "gold", "lead"],
  ]);
});

test("a field that no one has a value in is not made", () => {
  expect(planOf("age", [], { type: "number" })).toBeUndefined();
});

test.each([
  ["Postal Code", "postal_code"],
  ["Straße & Nr.", "strasse_nr"],
  ["__proto__", "proto"],
  ["Status", "other_status"],
  ["E-Mail", "e_mail"],
  ["x".repeat(100), "x".repeat(64)],
])("the name %s becomes %s", (name, expected) => {
  expect(fieldNameOf(name)).toBe(expected);
});

test("names in other scripts become different names", () => {
  const names = ["名前", "電話"].map(fieldNameOf);
  expect(names.every((name) => /^field_[0-9a-f]{8}$/.test(name))).toBe(true);
  expect(new Set(names).size).toBe(2);
});

test("values that came before another type was declared decide: a field takes them all", () => {
  const survey = new FieldSurvey();
  survey.declare("age", { kind: "field", name: "age", label: "Age", type: "text" });
  survey.note("age", "Age", "about 50");
  survey.declare("age", { kind: "field", name: "age", label: "Age", type: "number" });
  survey.note("age", "Age", "51");
  expect(survey.plan()[0]?.field_type).toBe("text");
});

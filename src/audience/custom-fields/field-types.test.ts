import { expect, test, vi } from "vitest";
import { DateReader } from "#platform/dates/date-reader.ts";
import { type FieldType, fieldTypes } from "./field-types.ts";
import { type Definition, fieldReader as readerOf } from "./field-value-reader.ts";

const fieldReader = (definition: Definition, timeZone = "Europe/Paris") =>
  readerOf(definition, new DateReader({ timeZone }));

const field = (field_type: FieldType, changes: Partial<Definition> = {}): Definition => ({
  field_type,
  field_options: field_type.endsWith("select") ? ["S", { label: "Medium", value: "M" }, "Extra large"] : null,
  validation_rules: null,
  ...changes,
});

type Row = readonly [FieldType, unknown, unknown];
const taken: Row[] = [
  ["text", "Grüße, 世界", "Grüße, 世界"],
  ["text", " kept as typed ", " kept as typed "],
  ["textarea", "two\nlines", "two\nlines"],
  ["number", 0, 0],
  ["number", -1.5e-7, -1.5e-7],
  ["number", " 42 ", 42],
  ["number", "+3.50", 3.5],
  ["number", "1e3", 1000],
  ["number", "-01.10E+0", -1.1],
  ["number", "0.1", 0.1],
  ["number", "-0.0", -0],
  ["number", "4.6666666666666667", 4.666666666666667],
  ["number", "9007199254740991", 9_007_199_254_740_991],
  ["number", "1e+21", 1e21],
  ["date", "2028-02-29", "2028-02-29"],
  ["date", " 2026-01-31 ", "2026-01-31"],
  ["date", "0001-01-02", "0001-01-02"],
  ["date", "31.01.2026", "2026-01-31"],
  ["date", "31 Jan 2026", "2026-01-31"],
  ["date", "2026-01-31T09:00:00", "2026-01-31T08:00:00.000Z"],
  ["date", 1_769_850_000, "2026-01-31T09:00:00.000Z"],
  ["date", "9999-12-31T23:59:59Z", "9999-12-31T23:59:59.000Z"],
  ["date", "2026-01-31T23:30:00-02:00", "2026-02-01T01:30:00.000Z"],
  ["date", "2026-01-31 09:00Z", "2026-01-31T09:00:00.000Z"],
  ["email", " Ann@EXAMPLE.com ", "Ann@example.com"],
  ["email", "ann@bücher.example", "ann@xn--bcher-kva.example"],
  ["url", "https://example.com/a?b=c#d", "https://example.com/a?b=c#d"],
  ["url", " http://example.com ", "http://example.com"],
  ["boolean", true, true],
  ["boolean", 0, false],
  ["boolean", " YES ", true],
  ["boolean", "no", false],
  ["boolean", "1", true],
  ["select", "M", "M"],
  ["select", " Extra large ", "Extra large"],
  ["multiselect", ["M", "S", "M"], ["M", "S"]],
  ["multiselect", "S; M;", ["S", "M"]],
  ["multiselect", "S,M", ["S", "M"]],
  ["multiselect", "s | MEDIUM\nextra  LARGE", ["S", "M", "Extra large"]],
  ["multiselect", '["S", "Medium"]', ["S", "M"]],
  ["select", "Medium", "M"],
  ["select", "medium", "M"],
  ["select", " extra\u00a0Large ", "Extra large"],
  ["boolean", "Y", true],
  ["boolean", "Nein", false],
  ["boolean", "sí", true],
  ["boolean", "x", true],
  ["boolean", "off", false],
  ["boolean", "✓", true],
  ...[
    "☑",
    "√",
    "-1",
    "1.0",
    "Evet",
    "Igen",
    "ano",
    "Kyllä",
    "네",
    "نعم",
    "כן",
    "ναι",
    "ИСТИНА",
    "WAAR",
    "○",
  ].map((text): Row => ["boolean", text, true]),
  ...[
    "☐",
    "✘",
    "×",
    "0.0",
    "Hayır",
    "Nem",
    "nej",
    "Nee",
    "Ei",
    "아니요",
    "لا",
    "לא",
    "όχι",
    "ЛОЖЬ",
    "FAŁSZ",
  ].map((text): Row => ["boolean", text, false]),
  ["multiselect", "S、M", ["S", "M"]],
  ["multiselect", "S，Medium；Extra large", ["S", "M", "Extra large"]],
  ["multiselect", "S/M", ["S", "M"]],
  ["multiselect", "S\tM", ["S", "M"]],
  ["multiselect", "{S,M}", ["S", "M"]],
  ["multiselect", '{S,"Extra large",NULL}', ["S", "Extra large"]],
  ["multiselect", "['S', 'Medium']", ["S", "M"]],
  ["multiselect", `['S', "Extra large"]`, ["S", "Extra large"]],
  ["multiselect", "('S',)", ["S"]],
  ["multiselect", "{}", []],
  ["boolean", "Enabled", true],
  ["boolean", "disabled", false],
  ["multiselect", [], []],
];

test.each(taken)("%s takes %j as %j", (type, given, stored) => {
  expect(fieldReader(field(type))(given)).toEqual({ ok: true, value: stored });
});

const nothingTakes = [
  {},
  { value: "S" },
  [{}],
  [["S"]],
  [null],
  Number.NaN,
  Number.POSITIVE_INFINITY,
  () => "S",
];
const refused: readonly [FieldType, unknown][] = [
  ["text", 7],
  ["text", "x".repeat(1_001)],
  ["textarea", "x".repeat(10_001)],
  ["number", "ten"],
  ["number", "0x10"],
  ["number", "1e999"],
  ["number", "9007199254740993"],
  ["number", "9007199254740992.5"],
  ["number", "1e-400"],
  ["number", "1,5"],
  ["number", ""],
  ["number", true],
  ["date", "2026-02-31"],
  ["date", "2026-13-01"],
  ["date", "03/04/2026"],
  ["date", "yesterday"],
  ["date", "2026-01-31T25:00:00Z"],
  ["date", "0000-12-31"],
  ["date", "9999-12-31T23:59:59-10:00"],
  ["date", 20_260_131],
  ["email", "ann@"],
  ["email", "a@example.com,b@example.com"],
  ["url", "javascript:alert(1)"],
  ["url", "ftp://example.com"],
  ["url", "example.com"],
  ["url", `https://example.com/${"x".repeat(2_048)}`],
  ["boolean", "maybe"],
  ["boolean", 2],
  ["select", "XL"],
  ["select", ["S"]],
  ["select", "__proto__"],
  ["multiselect", ["S", "XL"]],
  ["multiselect", 7],
  ...fieldTypes.flatMap((type) => nothingTakes.map((value): [FieldType, unknown] => [type, value])),
];

test.each(refused)("%s refuses %j with a sentence", (type, given) => {
  const reading = fieldReader(field(type))(given);
  expect(reading.ok).toBe(false);
  expect(reading).toHaveProperty("message", expect.stringMatching(/^must /));
});

test("every type accepts its stored form unchanged", () => {
  for (const [type, , stored] of taken)
    expect(fieldReader(field(type))(stored)).toEqual({ ok: true, value: stored });
});

test.each(["0000-00-00", "0001-01-01T00:00:00", "1900-01-00"])("the zero date %s is no value", (given) => {
  expect(fieldReader(field("date"))(given)).toEqual({ ok: true, value: null });
});

test.each(["NULL", "null", "-", " n/a ", "N/A", "none", "\\N", "#N/A", "(null)", "—", "undefined", "NaN"])(
  "%s is no value in every type but text",
  (given) => {
    for (const type of fieldTypes) {
      const isText = type === "text" || type === "textarea";
      expect([type, fieldReader(field(type))(given)]).toEqual([
        type,
        { ok: true, value: isText ? given : null },
      ]);
    }
  },
);

test("a choice with such a name can be chosen", () => {
  const read = fieldReader(field("select", { field_options: ["None", "{a}"] }));
  expect(read("none")).toEqual({ ok: true, value: "None" });
  const several = fieldReader(field("multiselect", { field_options: ["{a}", "None"] }));
  expect(several("{a}")).toEqual({ ok: true, value: ["{a}"] });
});

test("a label of two choices is refused, and a comma within a choice does not split it", () => {
  const field_options = [{ label: "News", value: "a" }, { label: "NEWS", value: "b" }, "Rome, Italy"];
  const read = fieldReader(field("multiselect", { field_options }));
  expect(read("News").ok).toBe(false);
  expect(read("a;rome, italy")).toEqual({ ok: true, value: ["a", "Rome, Italy"] });
});

test.each([
  ["number", { min: 2, max: 4 }, [2, "3", 4], [1.9, "4.1"]],
  ["text", { min_length: 2, max_length: 3 }, ["ab", "abc", "👩‍🚀"], ["a", "abcd", "👍"]],
] as const)("rules of %s: %j", (type, validation_rules, inside, outside) => {
  const read = fieldReader(field(type, { validation_rules }));
  expect(inside.map((value) => read(value).ok)).not.toContain(false);
  expect(outside.map((value) => read(value).ok)).not.toContain(true);
});

test("a text that is too long for a choice is not searched", () => {
  const normalize = vi.spyOn(String.prototype, "normalize");
  const select = fieldReader(field("select"));
  const multiselect = fieldReader(field("multiselect"));
  const yesNo = fieldReader(field("boolean"));
  normalize.mockClear();
  for (const [read, value] of [
    [select, "S".repeat(1_000_000)],
    [multiselect, "S;".repeat(500_000)],
    [multiselect, `[${'"S",'.repeat(250_000)}"S"]`],
    [multiselect, Array(90_000).fill("S")],
    [multiselect, ["S".repeat(1_000_000)]],
    [yesNo, "yes".repeat(300_000)],
  ] as const) {
    expect(read(value).ok).toBe(false);
  }
  expect(normalize.mock.calls.length).toBe(0);
  normalize.mockRestore();
  expect(multiselect("S;".repeat(1_000))).toEqual({ ok: true, value: ["S"] });
});

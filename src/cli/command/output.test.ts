import { expect, test } from "vitest";
import { json, table } from "./output.ts";

test("a table is aligned under its headings, with a dash for null", () => {
  const rows = [
    { name: "Acme", hourly_cap: 500, made: new Date(0) },
    { name: "A longer name", hourly_cap: null, made: new Date(1) },
  ];
  expect(table(["name", "hourly_cap", "made"], rows)).toBe(
    [
      "NAME           HOURLY CAP  MADE",
      "Acme           500         1970-01-01T00:00:00.000Z",
      "A longer name  -           1970-01-01T00:00:00.001Z",
      "",
    ].join("\n"),
  );
  expect(table(["name"], [])).toBe("NAME\n");
});

test("names cannot steer the terminal", () => {
  const shown = table(["name"], [{ name: "\u001b[2JAcme\r\nroot" }]);
  expect(shown).toBe("NAME\n?[2JAcme??root\n");
});

test("JSON is one line", () => {
  expect(json({ name: "a\nb", at: new Date(0) })).toBe('{"name":"a\\nb","at":"1970-01-01T00:00:00.000Z"}\n');
});

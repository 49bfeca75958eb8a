import { expect, test } from "vitest";
import { SynchronousStandbys } from "./synchronous-standbys.ts";

test.each<[string, number, string[]]>([
  ["s1", 1, ["s1"]],
  ["s1, s2", 1, ["s1", "s2"]],
  ["2 (s1, s2)", 2, ["s1", "s2"]],
  ["FIRST 1 (s1,s2)", 1, ["s1", "s2"]],
  ["any 2(s1, s2, s3)", 2, ["s1", "s2", "s3"]],
  [' ANY 1 ("db-1", "a, (b)", "with ""quotes""", Db2) ', 1, ["db-1", "a, (b)", 'with "quotes"', "Db2"]],
  ['"ANY 1 (s1)"', 1, ["ANY 1 (s1)"]],
])("the list %s is read as PostgreSQL reads it", (setting, needed, names) => {
  expect(new SynchronousStandbys(setting)).toMatchObject({ needed, names });
});

test("a name is compared without its case, and * stands for every name", () => {
  const list = new SynchronousStandbys('ANY 1 ("DB-1", db2)');
  expect(["db-1", "DB2", "db", "walreceiver"].map((name) => list.has(name))).toEqual([
    true,
    true,
    false,
    false,
  ]);
  expect(list.without([{ name: "db-1" }])).toEqual(["db2"]);
  const all = new SynchronousStandbys("FIRST 1 (s1, *)");
  expect(all.has("walreceiver")).toBe(true);
  expect(all.without([])).toEqual([]);
});

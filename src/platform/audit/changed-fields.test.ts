import { expect, test } from "vitest";
import { changedFields } from "./changed-fields.ts";

test.each(["file", "csvFile"])("of an uploaded %s the log does not show where it is stored", (field) => {
  const asked = { [field]: { path: "data/uploads/1", name: "people.csv" }, name: "People" };
  expect(changedFields(undefined, asked, { name: "People" }, false)).toEqual([
    { field, before: null, after: null, is_hidden: true },
    { field: "name", before: null, after: "People", is_hidden: false },
  ]);
});

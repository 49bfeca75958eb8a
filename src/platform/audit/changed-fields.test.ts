import { expect, test } from "vitest";
import { changedFields } from "./changed-fields.ts";

test("what the request does not name counts only where both sides show it alike", () => {
  const before = { status: "sending", html_content: "<p>Hi</p>", domain: "a.example", sent_at: null };
  const after = {
    status: "paused",
    html_content: null,
    domain: { name: "a.example" },
    sent_at: "2026-01-01",
  };
  expect(changedFields(before, {}, after, false).map(({ field }) => field)).toEqual(["status", "sent_at"]);
});

test.each(["file", "csvFile"])("of an uploaded %s the log does not show where it is stored", (field) => {
  const asked = { [field]: { path: "data/uploads/1", name: "people.csv" }, name: "People" };
  expect(changedFields(undefined, asked, { name: "People" }, false)).toEqual([
    { field, before: null, after: null, is_hidden: true },
    { field: "name", before: null, after: "People", is_hidden: false },
  ]);
});

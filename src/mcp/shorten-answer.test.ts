import { expect, test } from "vitest";
import { shortened } from "./shorten-answer.ts";

const length = (value: unknown) => JSON.stringify(value).length;

test("a short answer stays as it is", () => {
  const answer = { data: { name: "June" }, message: "Campaign" };
  expect(shortened(answer, ["limit"])).toBe(answer);
});

test("long texts are cut before rows are left out", () => {
  const data = Array.from({ length: 20 }, (_, id) => ({ id, html: "x".repeat(10_000) }));
  const shorter = shortened({ data, message: "Mails" }, []);
  expect(shorter.data).toHaveLength(20);
  expect(shorter.shortened).toBe("Long texts are cut.");
  expect(JSON.stringify(shorter)).toContain("… [9,500 more characters]");
  expect(length(shorter)).toBeLessThan(61_000);
});

test("rows are left out at the end of the longest list, without the cursor that would skip them", () => {
  const rows = Array.from({ length: 5_000 }, (_, id) => ({ id, name: `Person ${id}` }));
  const answer = { data: { people: rows, tags: ["a"], pagination: { next_cursor: "c" } }, message: "People" };
  const { data, shortened: note } = shortened(answer, ["limit", "after"]) as {
    data: { people: object[]; tags: string[]; pagination: object };
    shortened: string;
  };
  expect(data.people.length).toBeGreaterThan(500);
  expect(data.people).toEqual(rows.slice(0, data.people.length));
  expect(data.tags).toEqual(["a"]);
  expect(data.pagination).toEqual({});
  expect(note).toBe(
    `\`data.people\` has only the first ${data.people.length} of 5000 rows. Ask again with that \`limit\`, then with \`after\` for the next rows.`,
  );
});

test("an answer without lists that cannot be shortened is left out", () => {
  const data = Object.fromEntries(Array.from({ length: 20_000 }, (_, at) => [`field ${at}`, at]));
  expect(shortened({ data, message: "Fields" }, [])).toEqual({
    message: "Fields",
    shortened: "The answer is too large to be shown.",
  });
});

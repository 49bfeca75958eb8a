import { expect, test } from "vitest";
import { ApiError } from "#platform/errors.ts";
import { newId } from "#platform/ids.ts";
import { ListPage } from "./list-page.ts";

const query = { page: 1, limit: 3, after: undefined };
const ids = Array.from({ length: 8 }, newId).toReversed();
const itself = (id: string) => id;

/** The rows that a store would return. */
const read = ({ page: { limit, offset, after } }: ListPage, from: readonly string[] = ids) =>
  from.filter((id) => after === undefined || id < after).slice(offset, offset + limit);

test("a cursor leads through the whole list, whatever rows are added or removed meanwhile", () => {
  const found: string[] = [];
  let left = [...ids];
  let after: string | undefined;
  for (let turn = 0; turn < 3; turn += 1) {
    const walk = new ListPage({ ...query, after }, "list", "x");
    const { rows, pagination } = walk.shown(read(walk, left), left.length, itself);
    found.push(...rows);
    // Those shown go, and a new one comes.
    left = [newId(), ...left.filter((id) => !rows.includes(id))];
    after = pagination.next_cursor ?? undefined;
  }
  expect([found, after]).toEqual([ids, undefined]);
});

test("a page has a cursor to the rows after it; the last page has none", () => {
  const second = new ListPage({ ...query, page: 2 }, "list");
  const { rows, pagination } = second.shown(read(second), 8, itself);
  expect([rows, pagination.page]).toEqual([ids.slice(3, 6), 2]);
  const next = new ListPage({ ...query, after: pagination.next_cursor ?? undefined }, "list");
  expect(next.shown(read(next), 8, itself)).toEqual({
    rows: ids.slice(6),
    pagination: { page: 1, limit: 3, total: 8, total_pages: 3, next_cursor: null },
  });
  const exact = new ListPage({ ...query, limit: 8 }, "list");
  expect(exact.shown(read(exact), 8, itself).pagination.next_cursor).toBeNull();
  expect(new ListPage(query, "list").shown([], 0, itself).pagination.next_cursor).toBeNull();
});

test("a cursor of another list or filter, and an invalid one, are refused", () => {
  const walk = new ListPage(query, "list", "active", undefined);
  const cursor = walk.shown(read(walk), 8, itself).pagination.next_cursor ?? "";
  const refusalOf = (after: string, ...filter: (string | null | undefined)[]) => {
    try {
      new ListPage({ ...query, after }, ...filter);
    } catch (thrown) {
      if (thrown instanceof ApiError) return thrown.details;
      throw thrown;
    }
    return null;
  };
  const other = "after is a cursor of another list or filter: keep the filter, or start without a cursor";
  const none = "after is not a cursor: send next_cursor of a response unchanged";
  expect(refusalOf(cursor, "list", "active", undefined)).toBeNull();
  for (const filter of [
    ["list", "bounced", undefined],
    ["other", "active", undefined],
    ["list", undefined, "active"],
  ]) {
    expect(refusalOf(cursor, ...filter)).toEqual([{ field: "after", message: other }]);
  }
  for (const text of ["x", "0", newId(), `${cursor}A`, cursor.slice(1), `${cursor} `, "\u{1f600}"]) {
    expect(refusalOf(text, "list", "active", undefined)).toEqual([{ field: "after", message: none }]);
  }
});

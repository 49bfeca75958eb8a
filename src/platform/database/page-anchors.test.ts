import * as fc from "fast-check";
import { expect, test } from "vitest";
import { PageAnchors, type PageStart, STRIDE } from "./page-anchors.ts";

const rows = Array.from({ length: 12_345 }, (_, at) => `row ${at}`);
const anchorsOf = (all: readonly string[]) => async () => all.filter((_, at) => at % STRIDE === 0);
/** The row at which the statement of a page starts. */
const rowAt = (all: readonly string[], { from, skip }: PageStart) =>
  all[(from === null ? 0 : all.indexOf(from)) + skip];

test("a page starts at the row that OFFSET would give, after fewer than STRIDE steps", async () => {
  const anchors = new PageAnchors();
  await fc.assert(
    fc.asyncProperty(fc.nat({ max: rows.length - 1 }), async (offset) => {
      const start = await anchors.find("a", 1, offset, anchorsOf(rows));
      expect(rowAt(rows, start)).toBe(rows[offset]);
      if (offset >= 5_000) expect(start.skip).toBeLessThan(STRIDE);
    }),
  );
});

test("the anchors of an order are read once for each revision, also by concurrent calls", async () => {
  let time = 0;
  let readings = 0;
  const anchors = new PageAnchors(() => time);
  const read = async () => {
    readings++;
    return anchorsOf(rows)();
  };
  await Promise.all(Array.from({ length: 20 }, () => anchors.find("a", 1, 9_000, read)));
  expect(readings).toBe(1);
  time += 60_000;
  await anchors.find("a", 2, 9_000, read);
  await anchors.find("a", 2, 11_000, read);
  expect(readings).toBe(2);
});

test("an order that keeps changing uses OFFSET, never old anchors", async () => {
  let time = 0;
  const anchors = new PageAnchors(() => time);
  await anchors.find("a", 1, 9_000, anchorsOf(rows));
  time += 1_000;
  expect(await anchors.find("a", 2, 9_000, anchorsOf(rows))).toEqual({ from: null, skip: 9_000 });
});

test("a failed read is not cached", async () => {
  const anchors = new PageAnchors();
  await expect(anchors.find("a", 1, 9_000, () => Promise.reject(new Error("away")))).rejects.toThrow("away");
  expect((await anchors.find("a", 1, 9_000, anchorsOf(rows))).from).toBe("row 9000");
});

test("the order that was unused longest is dropped", async () => {
  const anchors = new PageAnchors();
  let readings = 0;
  const read = async () => {
    readings++;
    return anchorsOf(rows)();
  };
  for (let key = 0; key <= 100; key++) await anchors.find(`order ${key}`, 1, 9_000, read);
  expect(readings).toBe(101);
  await anchors.find("order 100", 1, 9_000, read);
  expect(readings).toBe(101);
  await anchors.find("order 0", 1, 9_000, read);
  expect(readings).toBe(102);
});

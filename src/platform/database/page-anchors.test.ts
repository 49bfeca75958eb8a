import * as fc from "fast-check";
import { expect, test } from "vitest";
import { createPositions, type Position, STRIDE } from "./page-anchors.ts";

const rows = Array.from({ length: 12_345 }, (_, at) => `row ${at}`);
const landmarksOf = (all: readonly string[]) => async () => all.filter((_, at) => at % STRIDE === 0);
/** What the page's statement does with a position. */
const rowAt = (all: readonly string[], { from, skip }: Position) =>
  all[(from === null ? 0 : all.indexOf(from)) + skip];

test("a position leads to the row that OFFSET would give, in fewer than STRIDE steps when it is deep", async () => {
  const positions = createPositions();
  await fc.assert(
    fc.asyncProperty(fc.nat({ max: rows.length - 1 }), async (offset) => {
      const position = await positions.find("a", 1, offset, landmarksOf(rows));
      expect(rowAt(rows, position)).toBe(rows[offset]);
      if (offset >= 5_000) expect(position.skip).toBeLessThan(STRIDE);
    }),
  );
});

test("an order is read once for each of its revisions, and by one of many who ask at once", async () => {
  let time = 0;
  let readings = 0;
  const positions = createPositions(() => time);
  const read = async () => {
    readings++;
    return landmarksOf(rows)();
  };
  await Promise.all(Array.from({ length: 20 }, () => positions.find("a", 1, 9_000, read)));
  expect(readings).toBe(1);
  time += 60_000;
  await positions.find("a", 2, 9_000, read);
  await positions.find("a", 2, 11_000, read);
  expect(readings).toBe(2);
});

test("an order that changes all the time is walked, never read from what it was", async () => {
  let time = 0;
  const positions = createPositions(() => time);
  await positions.find("a", 1, 9_000, landmarksOf(rows));
  time += 1_000;
  expect(await positions.find("a", 2, 9_000, landmarksOf(rows))).toEqual({ from: null, skip: 9_000 });
});

test("a reading that fails is not remembered", async () => {
  const positions = createPositions();
  await expect(positions.find("a", 1, 9_000, () => Promise.reject(new Error("away")))).rejects.toThrow(
    "away",
  );
  expect((await positions.find("a", 1, 9_000, landmarksOf(rows))).from).toBe("row 9000");
});

test("the order that nobody asked for longest makes room", async () => {
  const positions = createPositions();
  let readings = 0;
  const read = async () => {
    readings++;
    return landmarksOf(rows)();
  };
  for (let key = 0; key <= 100; key++) await positions.find(`order ${key}`, 1, 9_000, read);
  expect(readings).toBe(101);
  await positions.find("order 100", 1, 9_000, read);
  expect(readings).toBe(101);
  await positions.find("order 0", 1, 9_000, read);
  expect(readings).toBe(102);
});

import { expect, test } from "vitest";
import { MicroBatch, type MicroBatchOptions } from "./micro-batch.ts";

/** A micro-batch whose flushes end when the test says so. */
function controlled(options: Partial<MicroBatchOptions<number, number>> = {}) {
  const batches: (readonly number[])[] = [];
  const ends: PromiseWithResolvers<number>[] = [];
  const batch = new MicroBatch<number, number>({
    size: 3,
    flush(items) {
      batches.push(items);
      const end = Promise.withResolvers<number>();
      ends.push(end);
      return end.promise;
    },
    ...options,
  });
  const end = async (at: number, flushed = 0) => {
    ends[at]?.resolve(flushed);
    await new Promise(setImmediate);
  };
  return { batch, batches, end };
}

test("a lone item is flushed at once, and items that arrive during a flush share the next one", async () => {
  const { batch, batches, end } = controlled();
  for (const item of [1, 2, 3]) batch.add(item);
  expect(batches).toEqual([[1]]);
  await end(0);
  expect(batches).toEqual([[1], [2, 3]]);
});

test("a batch is no larger than its size", async () => {
  const { batch, batches, end } = controlled();
  for (const item of [1, 2, 3, 4, 5]) batch.add(item);
  await end(0);
  expect(batches[1]).toEqual([2, 3, 4]);
  expect(batch.waiting).toEqual([5]);
});

test("a size may depend on the waiting items and on what the last flush resolved to", async () => {
  const { batch, batches, end } = controlled({
    size: (waiting, flushed = 0) => Math.ceil((waiting.length + flushed) / 2),
  });
  for (const item of [1, 2, 3, 4, 5]) batch.add(item);
  await end(0, 2);
  expect(batches[1]).toEqual([2, 3, 4]);
});

test("a second flush starts only when enough items wait", () => {
  const { batch, batches } = controlled({ maxInFlight: 2, minBeside: 2 });
  batch.add(1);
  batch.add(2);
  expect(batches).toEqual([[1]]);
  batch.add(3);
  expect(batches).toEqual([[1], [2, 3]]);
});

test("an item beyond the maximum is not taken", () => {
  const { batch } = controlled({ maxWaiting: 1 });
  expect([1, 2, 3].map((item) => batch.add(item))).toEqual([true, true, false]);
});

test("items of one turn of the event loop share the first flush where that starts in the next turn", async () => {
  const { batch, batches } = controlled({ startsNextTurn: true });
  batch.add(1);
  batch.add(2);
  expect(batches).toEqual([]);
  await new Promise(setImmediate);
  expect(batches).toEqual([[1, 2]]);
});

test("removed items are not flushed", async () => {
  const { batch, batches, end } = controlled();
  for (const item of [1, 2, 3, 4]) batch.add(item);
  expect(batch.remove((item) => item === 3)).toEqual([3]);
  await end(0);
  expect(batches[1]).toEqual([2, 4]);
});

test("flushed resolves when nothing waits and no flush is under way", async () => {
  const { batch, end } = controlled();
  await batch.flushed();
  batch.add(1);
  batch.add(2);
  let isFlushed = false;
  const flushed = batch.flushed().then(() => (isFlushed = true));
  await end(0);
  expect(isFlushed).toBe(false);
  await end(1);
  await flushed;
});

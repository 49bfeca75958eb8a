/** Fills tables part by part, on both cores of a small machine. */
const AT_ONCE = 2;

/** Calls `insert` for all parts of the numbers below `count`: from the first number of a part to the one behind its last. */
export async function inParts(
  count: number,
  size: number,
  insert: (from: number, end: number) => Promise<unknown>,
): Promise<void> {
  let next = 0;
  const work = async () => {
    while (next < count) {
      const from = next;
      next += size;
      await insert(from, Math.min(next, count));
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
}

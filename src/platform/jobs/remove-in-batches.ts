/** Deletes many rows in batches. */

/** Rows of a batch: a statement has 30 seconds, and locks its rows until its end. */
const BATCH = 5_000;

/** Calls `remove` until it deletes fewer than `most` rows, or `signal` is aborted. @returns the number of deleted rows */
export async function removeInBatches(
  signal: AbortSignal,
  remove: (most: number) => Promise<number>,
  most = BATCH,
): Promise<number> {
  let total = 0;
  while (!signal.aborted) {
    const removed = await remove(most);
    total += removed;
    if (removed < most) break;
  }
  return total;
}

/** Deleting much in small pieces. */

/** A statement has 30 seconds, and what it deletes stays locked until its end. */
const BATCH = 5_000;

/** Removes until a batch of at most `most` was not full, or the process has to stop; says how many went. */
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

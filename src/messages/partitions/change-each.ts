/** Changes partitions one after another, so that each waits for its locks alone. */
import type { Partition, PartitionedTable } from "./store.ts";

/**
 * After a partition of a table could not be locked, the others of that table are left to the next call: whatever holds
 * the lock, such as a backup, usually holds all of them, and every wait delays the statements that come after it.
 * @param mayGoOn asked before each partition; the others are left to the next call, too
 * @returns the partitions that were changed
 * @throws AggregateError when some could not be changed
 */
export async function changeEach(
  partitions: readonly Partition[],
  change: (partition: Partition) => Promise<unknown>,
  mayGoOn: () => boolean = () => true,
): Promise<Partition[]> {
  const changed: Partition[] = [];
  const faults: unknown[] = [];
  const locked = new Set<PartitionedTable>();
  for (const partition of partitions) {
    if (!mayGoOn()) break;
    if (locked.has(partition.table)) continue;
    try {
      await change(partition);
      changed.push(partition);
    } catch (fault) {
      faults.push(fault);
      if (isLockTimeout(fault)) locked.add(partition.table);
    }
  }
  if (faults.length > 0)
    throw new AggregateError(faults, "partitions of the message log could not be changed");
  return changed;
}

/** SQLSTATE 55P03, lock_not_available. */
function isLockTimeout(fault: unknown): boolean {
  return fault instanceof Error && "code" in fault && fault.code === "55P03";
}

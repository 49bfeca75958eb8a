/**
 * Daily partitions of the message log, created ahead of time: at start and once a day. A row whose day has no partition
 * goes to the default partition, so that mail is still accepted, and is moved when its day gets one.
 */
import type { Database } from "#platform/database/pool.ts";
import { firstIdAt } from "#platform/ids.ts";
import { changeEach } from "./change-each.ts";
import { addPartition, listPartitions, type Partition, partitionedTables } from "./store.ts";

/** Partitions exist for today and the following days, by UTC. */
const DAYS_AHEAD = 4;

/**
 * Creates missing partitions.
 * @throws AggregateError when some could not be created; mail is still accepted, and the next call tries again
 */
export async function ensurePartitions(db: Database, now: Date): Promise<void> {
  const existing = new Set((await listPartitions(db)).map(({ name }) => name));
  const missing = partitionsAt(now).filter(({ name }) => !existing.has(name));
  await changeEach(missing, (partition) => db.transaction((tx) => addPartition(tx, partition)));
}

function partitionsAt(now: Date): Partition[] {
  return Array.from({ length: 1 + DAYS_AHEAD }, (_, ahead) => {
    const day = (plus: number) =>
      new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), now.getUTCDate() + plus));
    const from = day(ahead);
    const range = { from: firstIdAt(from), to: firstIdAt(day(ahead + 1)) };
    const suffix = from.toISOString().slice(0, 10).replaceAll("-", "_");
    return partitionedTables.map((table) => ({ name: `${table}_${suffix}`, table, ...range }));
  }).flat();
}

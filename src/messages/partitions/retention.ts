/**
 * Removes old mail by whole days: a partition is dropped when its newest message is too old, which costs the same for
 * a hundred messages and for a hundred million. Contents go before the log; report counters (messages/counters) stay.
 */
import type { Database } from "#platform/database/pool.ts";
import { firstIdAt } from "#platform/ids.ts";
import { DAY_MS } from "#platform/time-units.ts";
import { changeEach } from "./change-each.ts";
import { lowestSubmissionOf } from "./ids-span.ts";
import {
  type Bounds,
  deleteFromDefault,
  dropPartition,
  findOldestQueued,
  hasOlderInDefault,
  listPartitions,
  type Partition,
  type PartitionedTable,
} from "./store.ts";

/** Days for which mail is kept; null: forever. */
export interface Retention {
  readonly contents: number | null;
  readonly log: number | null;
}

const tablesOf = {
  contents: ["message_contents", "submissions"],
  log: ["messages", "message_events", "smtp_openings", "message_labels"],
} as const satisfies Record<keyof Retention, readonly PartitionedTable[]>;

/** Rows that one statement deletes from a default partition. */
const DELETED_AT_ONCE = 10_000;

/**
 * Drops each old partition in a transaction of its own, and deletes rows as old from the default partitions. What is
 * as old as the oldest queued message, or newer, stays, and so does the submission of a queued message.
 * @returns the names of the dropped tables
 * @throws AggregateError when some could not be dropped; the next call tries again
 */
export async function removeOldPartitions(db: Database, retention: Retention, now: Date): Promise<string[]> {
  const bounds = boundsOf(retention, now);
  const isBelow = ({ table, to }: Partition, of: Bounds) => to <= (of.get(table) ?? "");
  const old = (await listPartitions(db, [...bounds.keys()])).filter((one) => isBelow(one, bounds));
  // The oldest queued message is found by reading the whole queue.
  if (old.length === 0 && !(await hasOlderInDefault(db, bounds))) return [];
  const oldestQueued = await findOldestQueued(db);
  const needed = new Map(
    [...bounds].map(([table, bound]) => [table, lowerBound(table, bound, oldestQueued)]),
  );
  for (const [table, before] of needed) await emptyDefault(db, table, before);
  const unneeded = old.filter((one) => isBelow(one, needed));
  const dropped = await changeEach(unneeded, (partition) =>
    db.transaction((tx) => dropPartition(tx, partition)),
  );
  return dropped.map(({ name }) => name);
}

/** The lowest id that is kept in each table, by age alone. Tables that are kept forever are not in it. */
function boundsOf(retention: Retention, now: Date): Bounds {
  const bounds = new Map<PartitionedTable, string>();
  for (const kind of ["contents", "log"] as const) {
    const days = retention[kind];
    if (days === null) continue;
    for (const table of tablesOf[kind]) bounds.set(table, firstIdAt(new Date(now.getTime() - days * DAY_MS)));
  }
  return bounds;
}

function lowerBound(table: PartitionedTable, bound: string, oldestQueued: string | undefined): string {
  if (oldestQueued === undefined) return bound;
  // The submission of a message that was accepted at midnight is in the partition of the day before.
  const needed = table === "submissions" ? lowestSubmissionOf(oldestQueued) : oldestQueued;
  return needed < bound ? needed : bound;
}

async function emptyDefault(db: Database, table: PartitionedTable, before: string): Promise<void> {
  while ((await deleteFromDefault(db, table, before, DELETED_AT_ONCE)) === DELETED_AT_ONCE);
}

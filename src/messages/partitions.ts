/**
 * Monthly partitions of the message log. They are made ahead of time, at start and once a day; a row whose month
 * has none lands in the default partition, so that mail is accepted even then, and moves when its month gets one.
 */
import sql, { raw } from "sql-template-tag";
import { lockKey } from "#platform/database/advisory-lock.ts";
import type { Database, Queryable } from "#platform/database/pool.ts";
import { firstIdAt } from "#platform/ids.ts";

/** With the column that they are partitioned by. */
const tables = {
  messages: "id",
  message_contents: "message_id",
  message_events: "message_id",
  submissions: "id",
} as const;
export type PartitionedTable = keyof typeof tables;

/** This month and the ones that follow. */
const MONTHS_AHEAD = 3;

/** Two machines must not make the same partition at once. */
const LOCK = lockKey("message partitions");
/** Whoever waits for a lock makes everybody behind it wait: better the next time than accepted mail that hangs. */
export const LOCK_TIMEOUT = "1s";

interface Partition {
  readonly name: string;
  readonly table: PartitionedTable;
  /** Ids from this one on, and below the other. */
  readonly from: string;
  readonly to: string;
}

/**
 * Each partition is a transaction of its own: one that cannot be made leaves the others alone.
 * @throws AggregateError when some could not be made; mail is accepted all the same, and calling again tries again
 */
export async function ensurePartitions(db: Database, now: Date): Promise<void> {
  const faults: unknown[] = [];
  for (const partition of await missing(db, partitionsAt(now))) {
    await db.transaction((tx) => makePartition(tx, partition)).catch((fault: unknown) => faults.push(fault));
  }
  if (faults.length > 0) throw new AggregateError(faults, `${faults.length} partitions could not be made`);
}

function partitionsAt(now: Date): Partition[] {
  return Array.from({ length: MONTHS_AHEAD }, (_, ahead) => {
    const from = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + ahead));
    const to = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + ahead + 1));
    const month = from.toISOString().slice(0, 7).replace("-", "_");
    const range = { from: firstIdAt(from), to: firstIdAt(to) };
    return (Object.keys(tables) as PartitionedTable[]).map((table) => ({
      name: `${table}_${month}`,
      table,
      ...range,
    }));
  }).flat();
}

async function missing(db: Queryable, partitions: readonly Partition[]): Promise<Partition[]> {
  const found = await db.rows<{ name: string }>(sql`
    select c.relname as name from pg_inherits i join pg_class c on c.oid = i.inhrelid
    where i.inhparent = any (${Object.keys(tables)}::regclass[])`);
  const existing = new Set(found.map(({ name }) => name));
  return partitions.filter(({ name }) => !existing.has(name));
}

/** Made apart, filled, then attached: readers and writers of the log are locked out of the default partition only. */
async function makePartition(tx: Queryable, partition: Partition): Promise<void> {
  await tx.run(sql`select set_config('lock_timeout', ${LOCK_TIMEOUT}, true)`);
  await tx.run(sql`select pg_advisory_xact_lock(${LOCK})`);
  if ((await missing(tx, [partition])).length === 0) return;
  // Names and bounds cannot be bound; all of them are made here, from a date.
  const { name, table, from, to } = partition;
  const column = tables[table];
  await tx.run(raw(`create table ${name} (like ${table} including all)`));
  await tx.run(raw(`lock table ${table}_default in access exclusive mode`));
  await tx.run(
    raw(`
      with moved as (
        delete from ${table}_default where ${column} >= '${from}' and ${column} < '${to}' returning *)
      insert into ${name} select * from moved`),
  );
  await tx.run(raw(`alter table ${table} attach partition ${name} for values from ('${from}') to ('${to}')`));
}

/**
 * Monthly partitions of the message log, created ahead of time: at start and once a day. A row whose month has no
 * partition goes to the default partition, so that mail is still accepted, and is moved when its month gets one.
 */
import sql, { raw } from "sql-template-tag";
import { lockKey } from "#platform/database/advisory-lock-key.ts";
import type { Database, Queryable } from "#platform/database/pool.ts";
import { firstIdAt } from "#platform/ids.ts";

/** Partitioned tables, with the column of their key. */
const tables = {
  messages: "id",
  message_contents: "message_id",
  message_events: "message_id",
  submissions: "id",
  smtp_openings: "id",
  message_labels: "message_id",
} as const;
export type PartitionedTable = keyof typeof tables;

/** Partitions exist for this month and the following ones. */
const MONTHS_AHEAD = 3;

/** Serialises the creation of partitions. */
const LOCK = lockKey("message partitions");
/**
 * A statement that waits for a table lock blocks all later ones, acceptance included: it gives up soon and is tried
 * again later.
 */
export const LOCK_TIMEOUT = "1s";

interface Partition {
  readonly name: string;
  readonly table: PartitionedTable;
  /** Lowest id, and the first id above. */
  readonly from: string;
  readonly to: string;
}

/**
 * Creates missing partitions, each in a transaction of its own.
 * @throws AggregateError when some could not be created; mail is still accepted, and the next call tries again
 */
export async function ensurePartitions(db: Database, now: Date): Promise<void> {
  const faults: unknown[] = [];
  for (const partition of await missing(db, partitionsAt(now))) {
    await db.transaction((tx) => makePartition(tx, partition)).catch((fault: unknown) => faults.push(fault));
  }
  if (faults.length > 0) throw new AggregateError(faults, `${faults.length} partitions could not be created`);
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

/**
 * Creates the table, moves rows into it, then attaches it: readers and writers of the log are locked out of the default
 * partition only.
 */
async function makePartition(tx: Queryable, partition: Partition): Promise<void> {
  await tx.run(sql`select set_config('lock_timeout', ${LOCK_TIMEOUT}, true)`);
  await tx.run(sql`select pg_advisory_xact_lock(${LOCK})`);
  if ((await missing(tx, [partition])).length === 0) return;
  // Identifiers and bounds cannot be bound; all of them are computed here from a date.
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

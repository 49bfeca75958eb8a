/** The partitions of the message log in PostgreSQL: one of each table for a day of UTC, and a default one. */
import sql, { join, raw } from "sql-template-tag";
import { lockKey } from "#platform/database/advisory-lock-key.ts";
import type { Queryable } from "#platform/database/pool.ts";

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
export const partitionedTables = Object.keys(tables) as PartitionedTable[];

/** A partition with bounds, so not a default one. */
export interface Partition {
  readonly name: string;
  readonly table: PartitionedTable;
  /** Lowest id, and the first id above. */
  readonly from: string;
  readonly to: string;
}

/** An id of each of some tables. */
export type Bounds = ReadonlyMap<PartitionedTable, string>;

/** Serialises the creation of partitions. */
const LOCK = lockKey("message partitions");

/**
 * A statement that waits for a table lock blocks all later ones, acceptance included: it gives up soon and is tried
 * again later.
 */
export const LOCK_TIMEOUT = "1s";

async function limitLockWait(tx: Queryable): Promise<void> {
  await tx.run(sql`select set_config('lock_timeout', ${LOCK_TIMEOUT}, true)`);
}

/** The partitions of these tables, the oldest first. */
export function listPartitions(
  db: Queryable,
  of: readonly PartitionedTable[] = partitionedTables,
): Promise<Partition[]> {
  return db.rows(sql`
    select name, "table", bounds[1] as "from", bounds[2] as "to"
    from (
      select c.relname::text as name, p.relname::text as "table",
        regexp_match(pg_get_expr(c.relpartbound, c.oid), 'FROM \\(''([0-9a-f-]{36})''\\) TO \\(''([0-9a-f-]{36})''\\)') as bounds
      from pg_inherits i join pg_class c on c.oid = i.inhrelid join pg_class p on p.oid = i.inhparent
      where i.inhparent = any (${[...of]}::regclass[])) partitions
    where bounds is not null order by "to", name`);
}

/**
 * Creates the table, moves rows of the default partition into it, then attaches it. Readers and writers of the log are
 * locked out of the default partition only.
 */
export async function addPartition(tx: Queryable, partition: Partition): Promise<void> {
  await limitLockWait(tx);
  await tx.run(sql`select pg_advisory_xact_lock(${LOCK})`);
  const { name, table, from, to } = partition;
  if ((await listPartitions(tx, [table])).some((one) => one.name === name)) return;
  const column = tables[table];
  // Identifiers and bounds cannot be bound; all of them are computed from a date.
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

/** The name comes from the catalogue. */
export async function dropPartition(tx: Queryable, { name }: Partition): Promise<void> {
  await limitLockWait(tx);
  await tx.run(raw(`drop table ${name}`));
}

/** Whether the default partition of a table has rows below its bound. */
export async function hasOlderInDefault(db: Queryable, bounds: Bounds): Promise<boolean> {
  if (bounds.size === 0) return false;
  const older = [...bounds].map(
    ([table, bound]) =>
      sql`exists (select from ${raw(`${table}_default`)} where ${raw(tables[table])} < ${bound})`,
  );
  const row = await db.row<{ is_older: boolean }>(sql`select ${join(older, " or ")} as is_older`);
  return row?.is_older ?? false;
}

/**
 * Deletes rows of the default partition, which are of days that had no partition in time.
 * @param before ids below this one
 * @returns their number; at most `most`
 */
export function deleteFromDefault(
  db: Queryable,
  table: PartitionedTable,
  before: string,
  most: number,
): Promise<number> {
  const place = raw(`${table}_default`);
  return db.run(sql`
    delete from ${place} where ctid = any (array(
      select ctid from ${place} where ${raw(tables[table])} < ${before} limit ${most}))`);
}

/** The oldest message that waits to be sent, such as one of a campaign that has been paused for a long time. */
export async function findOldestQueued(db: Queryable): Promise<string | undefined> {
  const row = await db.row<{ id: string }>(sql`
    select message_id as id from delivery_queue order by message_id limit 1`);
  return row?.id;
}

/** The oldest day that has a partition. */
export async function findOldestDay(db: Queryable): Promise<Date> {
  const row = await db.row<{ day: Date }>(sql`
    select to_date(right(min(c.relname), 10), 'YYYY_MM_DD')::timestamp at time zone 'UTC' as day
    from pg_inherits i join pg_class c on c.oid = i.inhrelid
    where i.inhparent = 'messages'::regclass and c.relname <> 'messages_default'`);
  return row?.day ?? new Date(0);
}

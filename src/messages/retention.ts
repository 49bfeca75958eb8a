/**
 * Old mail is forgotten by whole months: a partition is dropped when its newest message is too old, which costs the same
 * for a hundred messages and for a hundred million. Contents go before the log; counters (messages/counters) stay.
 */
import sql, { raw } from "sql-template-tag";
import type { Database, Queryable } from "#platform/database/pool.ts";
import { firstIdAt } from "#platform/ids.ts";
import { LOCK_TIMEOUT, type PartitionedTable } from "./partitions.ts";

const DAY_MS = 86_400_000;

/** Days for which mail is kept; null: for ever. */
export interface Retention {
  readonly contents: number | null;
  readonly log: number | null;
}

const tablesOf = {
  contents: ["message_contents", "submissions"],
  log: ["messages", "message_events"],
} as const satisfies Record<keyof Retention, readonly PartitionedTable[]>;

/**
 * Each partition is a transaction of its own. One in whose months a message still waits to be sent stays.
 * @returns the names of what was dropped
 * @throws AggregateError when some could not be; calling again tries again
 */
export async function removeOldPartitions(db: Database, retention: Retention, now: Date): Promise<string[]> {
  const dropped: string[] = [];
  const faults: unknown[] = [];
  for (const kind of ["contents", "log"] as const) {
    const days = retention[kind];
    if (days === null) continue;
    const before = firstIdAt(new Date(now.getTime() - days * DAY_MS));
    for (const { name, to } of await listPartitions(db, tablesOf[kind])) {
      if (to > before || (await isAwaited(db, to))) continue;
      await db
        .transaction((tx) => drop(tx, name))
        .then(
          () => dropped.push(name),
          (fault: unknown) => faults.push(fault),
        );
    }
  }
  if (faults.length > 0) throw new AggregateError(faults, `${faults.length} partitions could not be dropped`);
  return dropped;
}

interface Partition {
  readonly name: string;
  /** Ids in it are below this one. */
  readonly to: string;
}

/** Those with bounds, so not the default ones. */
function listPartitions(db: Queryable, tables: readonly PartitionedTable[]): Promise<Partition[]> {
  return db.rows(sql`
    select name, (regexp_match(bounds, 'TO \\(''([0-9a-f-]{36})''\\)'))[1] as "to"
    from (
      select c.relname as name, pg_get_expr(c.relpartbound, c.oid) as bounds
      from pg_inherits i join pg_class c on c.oid = i.inhrelid
      where i.inhparent = any (${[...tables]}::regclass[])) partitions
    where bounds <> 'DEFAULT' order by name`);
}

/** Whether a message older than that is not over yet: a campaign that was paused for a long time. */
async function isAwaited(db: Queryable, before: string): Promise<boolean> {
  const row = await db.row<{ is_awaited: boolean }>(sql`
    select exists (select from delivery_queue where message_id < ${before}) as is_awaited`);
  return row?.is_awaited === true;
}

/** The name comes from the catalogue, and cannot be bound. */
async function drop(tx: Queryable, name: string): Promise<void> {
  await tx.run(sql`select set_config('lock_timeout', ${LOCK_TIMEOUT}, true)`);
  await tx.run(raw(`drop table ${name}`));
}

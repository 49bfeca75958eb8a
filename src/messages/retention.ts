/**
 * Removes old mail by whole months: a partition is dropped when its newest message is too old, which costs the same for
 * a hundred messages and for a hundred million. Contents go before the log; report counters (messages/counters) stay.
 */
import sql, { raw } from "sql-template-tag";
import type { Database, Queryable } from "#platform/database/pool.ts";
import { firstIdAt } from "#platform/ids.ts";
import { DAY_MS } from "#platform/time-units.ts";
import { LOCK_TIMEOUT, type PartitionedTable } from "./create-partitions.ts";

/** Days for which mail is kept; null: forever. */
export interface Retention {
  readonly contents: number | null;
  readonly log: number | null;
}

const tablesOf = {
  contents: ["message_contents", "submissions"],
  log: ["messages", "message_events", "smtp_openings", "message_labels"],
} as const satisfies Record<keyof Retention, readonly PartitionedTable[]>;

/**
 * Drops each old partition in a transaction of its own. A partition stays while messages of its time or older are still
 * queued.
 * @returns the names of the dropped tables
 * @throws AggregateError when some could not be dropped; the next call tries again
 */
export async function removeOldPartitions(db: Database, retention: Retention, now: Date): Promise<string[]> {
  const dropped: string[] = [];
  const faults: unknown[] = [];
  for (const kind of ["contents", "log"] as const) {
    const days = retention[kind];
    if (days === null) continue;
    const before = firstIdAt(new Date(now.getTime() - days * DAY_MS));
    for (const { name, to } of await listPartitions(db, tablesOf[kind])) {
      if (to > before || (await isQueued(db, to))) continue;
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

/** Partitions with bounds, so not the default ones. */
function listPartitions(db: Queryable, tables: readonly PartitionedTable[]): Promise<Partition[]> {
  return db.rows(sql`
    select name, (regexp_match(bounds, 'TO \\(''([0-9a-f-]{36})''\\)'))[1] as "to"
    from (
      select c.relname as name, pg_get_expr(c.relpartbound, c.oid) as bounds
      from pg_inherits i join pg_class c on c.oid = i.inhrelid
      where i.inhparent = any (${[...tables]}::regclass[])) partitions
    where bounds <> 'DEFAULT' order by name`);
}

/** Whether a message older than that is still queued, such as one of a campaign that was paused for a long time. */
async function isQueued(db: Queryable, before: string): Promise<boolean> {
  const row = await db.row<{ is_queued: boolean }>(sql`
    select exists (select from delivery_queue where message_id < ${before}) as is_queued`);
  return row?.is_queued === true;
}

/** The name comes from the catalogue; identifiers cannot be bound. */
async function drop(tx: Queryable, name: string): Promise<void> {
  await tx.run(sql`select set_config('lock_timeout', ${LOCK_TIMEOUT}, true)`);
  await tx.run(raw(`drop table ${name}`));
}

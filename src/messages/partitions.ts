/**
 * Monthly partitions of the message log. They are made ahead of time, at start and once a day; a row whose month
 * has none lands in the default partition, so that mail is accepted even then.
 */
import sql, { raw } from "sql-template-tag";
import { lockKey } from "../platform/database/advisory-lock.ts";
import type { Database } from "../platform/database/pool.ts";
import { firstIdAt } from "../platform/ids.ts";

const tables = ["messages", "message_contents", "message_events"] as const;

/** This month and the ones that follow. */
const MONTHS_AHEAD = 3;

/** Two machines must not make the same partition at once. */
const LOCK = lockKey("message partitions");

export async function ensurePartitions(db: Database, now: Date): Promise<void> {
  await db.transaction(async (tx) => {
    await tx.run(sql`select pg_advisory_xact_lock(${LOCK})`);
    const existing = new Set(
      (
        await tx.rows<{ name: string }>(sql`
        select c.relname as name from pg_inherits i join pg_class c on c.oid = i.inhrelid
        where i.inhparent = any (${[...tables]}::regclass[])`)
      ).map((row) => row.name),
    );
    for (let ahead = 0; ahead < MONTHS_AHEAD; ahead++) {
      const from = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + ahead));
      const to = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + ahead + 1));
      for (const table of tables) {
        const name = `${table}_${from.toISOString().slice(0, 7).replace("-", "_")}`;
        if (existing.has(name)) continue;
        // Identifiers and bounds cannot be bound; all of them are made here, from a date.
        await tx.run(
          raw(
            `create table ${name} partition of ${table} for values from ('${firstIdAt(from)}') to ('${firstIdAt(to)}')`,
          ),
        );
      }
    }
  });
}

/** Who waits for whom in the database of a test. */
import sql from "sql-template-tag";
import { expect } from "vitest";
import type { Database } from "../../src/platform/database/pool.ts";

const waiting = sql`
  select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;

/** Until so many wait for locks. */
export async function untilWaiting(db: Database, count: number): Promise<void> {
  await expect.poll(() => db.rows(waiting), { timeout: 5_000 }).toHaveLength(count);
}

/** Who waits for whom in the database of a test. */
import sql from "sql-template-tag";
import { expect } from "vitest";
import type { Database, Queryable } from "#platform/database/pool.ts";

const waiting = sql`
  select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;

/** Until so many wait for locks. */
export async function untilWaiting(db: Database, count: number): Promise<void> {
  await expect.poll(() => db.rows(waiting), { timeout: 5_000 }).toHaveLength(count);
}

/** Calls that wait for this transaction one behind the other, and how they end once it has committed. */
export async function callsBehind<Answer>(
  db: Database,
  work: (tx: Queryable) => Promise<unknown>,
  ...calls: readonly (() => Promise<Answer>)[]
): Promise<Answer[]> {
  const { answers } = await db.transaction(async (tx) => {
    await work(tx);
    const answers: Promise<Answer>[] = [];
    for (const one of calls) {
      answers.push(one());
      await untilWaiting(db, answers.length);
    }
    return { answers };
  });
  return Promise.all(answers);
}

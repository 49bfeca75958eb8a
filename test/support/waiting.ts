/** Lock waits in the database of a test. */
import sql from "sql-template-tag";
import { expect } from "vitest";
import type { Database, Queryable } from "#platform/database/pool.ts";

const waiting = sql`
  select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;

/** Resolves when `count` sessions wait for locks. */
export async function untilWaiting(db: Database, count: number): Promise<void> {
  await expect.poll(() => db.rows(waiting), { timeout: 5_000 }).toHaveLength(count);
}

/** Starts calls that wait for this transaction one after the other, and returns their results after its commit. */
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

/** How acceptance wakes the delivery workers: LISTEN/NOTIFY over the database, whatever machines they run on. */
import sql from "sql-template-tag";
import type { Database, Queryable } from "../platform/database/pool.ts";

export const DELIVERY_CHANNEL = "posthaste_delivery";

/** Wakes the workers; within a transaction, when that commits. */
export async function notifyWorkers(db: Queryable): Promise<void> {
  await db.run(sql`select pg_notify(${DELIVERY_CHANNEL}, '')`);
}

/**
 * A function that wakes the workers, at most once at a time: NOTIFY takes a lock that all commits share, so a
 * flood of acceptances must not become a flood of notices. A notice that fails is covered by the workers' polling.
 */
export function createWaker(db: Database): () => void {
  let isWaking = false;
  let again = false;
  const wake = async () => {
    isWaking = true;
    do {
      again = false;
      await notifyWorkers(db).catch(() => {});
    } while (again);
    isWaking = false;
  };
  return () => {
    again = true;
    if (!isWaking) void wake();
  };
}

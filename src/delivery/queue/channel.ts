/** How acceptance wakes the delivery workers: LISTEN/NOTIFY over the database, whatever machines they run on. */
import { setTimeout as delay } from "node:timers/promises";
import sql from "sql-template-tag";
import type { Database, Queryable } from "#platform/database/pool.ts";

export const DELIVERY_CHANNEL = "posthaste_delivery";

const GAP_MS = 50;

/** Wakes the workers; within a transaction, when that commits. */
export async function notifyWorkers(db: Queryable): Promise<void> {
  await db.run(sql`select pg_notify(${DELIVERY_CHANNEL}, '')`);
}

/**
 * A function that wakes the workers: at once, and then not before a moment has passed. A notice is a durable commit of
 * its own under a lock that all commits share, so a flood of acceptances must not become a flood of notices. One that
 * fails is covered by the workers' polling.
 */
export function createWaker(db: Database): () => void {
  let isWaking = false;
  let again = false;
  const wake = async () => {
    isWaking = true;
    do {
      again = false;
      await notifyWorkers(db).catch(() => {});
      await delay(GAP_MS, undefined, { ref: false });
    } while (again);
    isWaking = false;
  };
  return () => {
    again = true;
    if (!isWaking) void wake();
  };
}

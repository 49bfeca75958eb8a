/** The advisory lock by which workers know that another worker is alive. */
import sql from "sql-template-tag";
import { lockKey } from "#platform/database/advisory-lock-key.ts";
import type { Database, Queryable } from "#platform/database/pool.ts";
import { holdProcessLock, type ProcessLock } from "#platform/database/process-lock.ts";

/**
 * Holds the lock of a worker until `end` is called.
 *
 * @param onRenewed called when the lock was lost for a time and is held again: other workers may have released the worker's
 * leases and removed its journal
 */
export function holdWorkerLock(db: Database, workerId: string, onRenewed = () => {}): Promise<ProcessLock> {
  return holdProcessLock(db, lockOf(workerId), onRenewed);
}

/** Takes the lock of a worker until the end of the transaction; false when the worker or a recovery holds it. */
export async function tryWorkerLock(db: Queryable, workerId: string): Promise<boolean> {
  const lock = await db.row<{ is_free: boolean }>(
    sql`select pg_try_advisory_xact_lock(${lockOf(workerId)}) as is_free`,
  );
  return lock?.is_free === true;
}

/** Takes the lock for a recovery; the transaction may be idle as long as the replay of the journal takes. */
export async function tryRecoveryLock(tx: Queryable, workerId: string): Promise<boolean> {
  await tx.run(sql`set local idle_in_transaction_session_timeout = 0`);
  return tryWorkerLock(tx, workerId);
}

function lockOf(workerId: string): number {
  return lockKey(`delivery worker ${workerId}`);
}

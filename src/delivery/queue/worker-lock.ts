/** By what workers know each other alive. */
import sql from "sql-template-tag";
import { lockKey } from "#platform/database/advisory-lock.ts";
import type { Database, Queryable } from "#platform/database/pool.ts";
import { holdProcessLock, type ProcessLock } from "#platform/database/process-lock.ts";

/**
 * Marks a worker as alive until `end`.
 *
 * @param onRenewed told when the mark was missing: what the worker holds may have been given to others meanwhile, and its
 * journal may have been removed
 */
export function holdWorkerLock(db: Database, workerId: string, onRenewed = () => {}): Promise<ProcessLock> {
  return holdProcessLock(db, lockOf(workerId), onRenewed);
}

/** Takes the lock of a worker for the rest of a transaction, or for a statement; false where its mark, or a recovery, has it. */
export async function isLockFree(db: Queryable, workerId: string): Promise<boolean> {
  const mark = await db.row<{ is_free: boolean }>(
    sql`select pg_try_advisory_xact_lock(${lockOf(workerId)}) as is_free`,
  );
  return mark?.is_free === true;
}

/** The same for a transaction in which nothing else is held, and which may wait for us however long a replay takes. */
export async function takeOver(tx: Queryable, workerId: string): Promise<boolean> {
  await tx.run(sql`set local idle_in_transaction_session_timeout = 0`);
  return isLockFree(tx, workerId);
}

function lockOf(workerId: string): number {
  return lockKey(`delivery worker ${workerId}`);
}

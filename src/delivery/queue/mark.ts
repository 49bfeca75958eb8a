/**
 * The mark of a living worker: a lock of a session of its own. A kill -9 closes that session within the kernel; a network
 * that goes silent is found out by asking.
 */
import { setTimeout as delay } from "node:timers/promises";
import sql from "sql-template-tag";
import { lockKey } from "../../platform/database/advisory-lock.ts";
import type { Database, Queryable } from "../../platform/database/pool.ts";

const RETRY_MS = 1_000;
/** A session that is silent for so long is given up: the database may have done so long ago, and freed its lock. */
const ANSWER_MS = 5_000;

type Session = Awaited<ReturnType<Database["openSession"]>>;

/** That a worker lives. */
export interface Mark {
  /** Not while the database is away, and a moment longer: then others may take the worker for dead. */
  readonly isThere: boolean;
  /** Asks whether the database still knows it, and makes a new one where nobody answers. To be called now and then. */
  check(): Promise<void>;
  end(): Promise<void>;
}

/**
 * Marks a worker as alive, again and again when the database was away; resolves once the mark is there for the first
 * time.
 *
 * @param onRenewed told when it was missing, right before it counts again: what the worker holds may have been given to
 * others meanwhile, and its journal may have been removed
 */
export async function markAlive(db: Database, workerId: string, onRenewed = () => {}): Promise<Mark> {
  let isOver = false;
  let isThere = true;
  /** The one with the lock, or that waits for it: another worker may have it for as long as a replay takes. */
  let session: Session | undefined;
  const mark = async () => {
    const opened = await db.openSession();
    session = opened;
    await opened.query(sql`select pg_advisory_lock(${lockOf(workerId)})`);
    opened.once("end", () => {
      isThere = false;
      if (!isOver) void markAgain();
    });
  };
  const markAgain = async () => {
    while (!isOver) {
      try {
        await mark();
        onRenewed();
        isThere = true;
        return;
      } catch {
        void session?.end();
        await delay(RETRY_MS);
      }
    }
  };
  await mark();
  return {
    get isThere() {
      return isThere;
    },
    async check() {
      if (!isThere) return;
      const asked = session;
      const answer = asked?.query(sql`select`).then(
        () => true,
        () => false,
      );
      const isHeard = await Promise.race([answer, delay(ANSWER_MS, false, { ref: false })]);
      if (!isHeard) await asked?.end();
    },
    async end() {
      isOver = true;
      await session?.end();
    },
  };
}

/** Takes the lock of a worker for the rest of a transaction, or for a statement; false where its mark, or a recovery, has it. */
export async function isUnmarked(db: Queryable, workerId: string): Promise<boolean> {
  const mark = await db.row<{ is_free: boolean }>(
    sql`select pg_try_advisory_xact_lock(${lockOf(workerId)}) as is_free`,
  );
  return mark?.is_free === true;
}

/** The same for a transaction in which nothing else is held, and which may wait for us however long a replay takes. */
export async function takeOver(tx: Queryable, workerId: string): Promise<boolean> {
  await tx.run(sql`set local idle_in_transaction_session_timeout = 0`);
  return isUnmarked(tx, workerId);
}

function lockOf(workerId: string): number {
  return lockKey(`delivery worker ${workerId}`);
}

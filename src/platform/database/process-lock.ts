/**
 * The mark of a living process: an advisory lock of a session of its own. A kill -9 closes that session within the kernel; a network
 * that goes silent is found out by asking.
 */
import { setTimeout as delay } from "node:timers/promises";
import sql from "sql-template-tag";
import type { Database } from "./pool.ts";

const RETRY_MS = 1_000;
/** A session that is silent for so long is given up: the database may have done so long ago, and freed its lock. */
const ANSWER_MS = 5_000;

type Session = Awaited<ReturnType<Database["openSession"]>>;

/** That a process lives. */
export interface ProcessLock {
  /** Not while the database is away, and a moment longer: then others may take the process for dead. */
  readonly isHeld: boolean;
  /** Asks whether the database still knows it, and makes a new one where there is no answer. To be called now and then. */
  check(): Promise<void>;
  end(): Promise<void>;
}

/**
 * Marks a process as alive, again and again when the database was away; resolves once the mark is there for the first
 * time.
 *
 * @param lock of its own (advisory-lock.ts)
 * @param onRenewed told when it was missing, right before it counts again: what the process holds may have been given to
 * others meanwhile
 */
export async function holdProcessLock(
  db: Database,
  lock: number,
  onRenewed = () => {},
): Promise<ProcessLock> {
  let isOver = false;
  let isHeld = true;
  /** The one with the lock, or that waits for it: whoever takes over from a dead process may have it for a while. */
  let session: Session | undefined;
  const mark = async () => {
    const opened = await db.openSession();
    session = opened;
    await opened.query(sql`select pg_advisory_lock(${lock})`);
    opened.once("end", () => {
      isHeld = false;
      if (!isOver) void markAgain();
    });
  };
  const markAgain = async () => {
    while (!isOver) {
      try {
        await mark();
        onRenewed();
        isHeld = true;
        return;
      } catch {
        void session?.end();
        await delay(RETRY_MS);
      }
    }
  };
  await mark();
  return {
    get isHeld() {
      return isHeld;
    },
    async check() {
      if (!isHeld) return;
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

/**
 * A lock that a process holds while it lives: an advisory lock in a session of its own. When the process is killed, the
 * kernel closes the session, and PostgreSQL frees the lock. A broken network is detected by `check`.
 */
import { setTimeout as delay } from "node:timers/promises";
import sql from "sql-template-tag";
import type { Database } from "./pool.ts";

const RETRY_MS = 1_000;
/** A session without an answer for this long is closed: the database may have closed it long ago, and freed the lock. */
const ANSWER_MS = 5_000;

type Session = Awaited<ReturnType<Database["openSession"]>>;

export interface ProcessLock {
  /**
   * False while the database is unreachable and until the lock is held again. Others may then treat the process as
   * dead.
   */
  readonly isHeld: boolean;
  /** Asks the database whether the session still exists, and opens a new one if there is no answer. Call it regularly. */
  check(): Promise<void>;
  end(): Promise<void>;
}

/**
 * Takes the lock, and takes it again whenever its session was lost. Resolves once it is held for the first time.
 *
 * @param lock a key of its own (advisory-lock-key.ts)
 * @param onRenewed called when the lock was lost and is held again, right before `isHeld` is true: other processes may have
 * taken over what this one held
 */
export async function holdProcessLock(
  db: Database,
  lock: number,
  onRenewed = () => {},
): Promise<ProcessLock> {
  const held = new RenewedLock(db, lock, onRenewed);
  await held.take();
  return held;
}

class RenewedLock implements ProcessLock {
  readonly #db: Database;
  readonly #lock: number;
  readonly #onRenewed: () => void;
  #isHeld = true;
  #isEnded = false;
  /** The session with the lock, or one that waits for it while another process takes over from a dead one. */
  #session: Session | undefined;

  constructor(db: Database, lock: number, onRenewed: () => void) {
    this.#db = db;
    this.#lock = lock;
    this.#onRenewed = onRenewed;
  }

  get isHeld(): boolean {
    return this.#isHeld;
  }

  async take(): Promise<void> {
    const session = await this.#db.openSession();
    this.#session = session;
    await session.query(sql`select pg_advisory_lock(${this.#lock})`);
    session.once("end", () => {
      this.#isHeld = false;
      if (!this.#isEnded) void this.#takeAgain();
    });
  }

  async check(): Promise<void> {
    if (!this.#isHeld) return;
    const session = this.#session;
    const answer = session?.query(sql`select`).then(
      () => true,
      () => false,
    );
    const isAnswered = await Promise.race([answer, delay(ANSWER_MS, false, { ref: false })]);
    if (!isAnswered) await session?.end();
  }

  async end(): Promise<void> {
    this.#isEnded = true;
    await this.#session?.end();
  }

  async #takeAgain(): Promise<void> {
    while (!this.#isEnded) {
      try {
        await this.take();
        this.#onRenewed();
        this.#isHeld = true;
        return;
      } catch {
        void this.#session?.end();
        await delay(RETRY_MS);
      }
    }
  }
}

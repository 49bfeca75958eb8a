/**
 * A lock by which other processes know that this one lives: PostgreSQL frees it when the process dies. Idempotency keys
 * that a dead process had reserved are free at once.
 */
import { lockKey } from "#platform/database/advisory-lock-key.ts";
import type { Database } from "#platform/database/pool.ts";
import { holdProcessLock, type ProcessLock } from "#platform/database/process-lock.ts";
import { newId } from "#platform/ids.ts";

const CHECK_MS = 10_000;
const RETRY_MS = 1_000;

export class ProcessLiveness {
  readonly #db: Database;
  readonly #lock = lockKey(`api process ${newId()}`);
  #mark: ProcessLock | undefined;
  #timer: NodeJS.Timeout | undefined;
  #isOver = false;

  constructor(db: Database) {
    this.#db = db;
  }

  /** The key of the lock; null while it is not held, because other processes would then treat this one as dead. */
  get holder(): number | null {
    return this.#mark?.isHeld ? this.#lock : null;
  }

  /** Tries until the lock is held; does not throw. */
  async start(): Promise<void> {
    try {
      this.#mark = await holdProcessLock(this.#db, this.#lock);
    } catch {
      if (!this.#isOver) this.#timer = setTimeout(() => void this.start(), RETRY_MS).unref();
      return;
    }
    if (this.#isOver) return this.#mark.end();
    this.#timer = setInterval(() => void this.#mark?.check(), CHECK_MS).unref();
    return undefined;
  }

  async end(): Promise<void> {
    this.#isOver = true;
    clearTimeout(this.#timer);
    await this.#mark?.end();
  }
}

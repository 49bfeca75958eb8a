/**
 * Keeps leases at constant cost. Each takes messages from the lines whose turn it is (line-turns.ts), and in each line it begins
 * where the first leasable row is. Without this it would pass row by row over the messages of saturated lanes, and over index
 * entries of rows that were deleted but are still visible to an old snapshot (a running backup).
 *
 * After a slow lease the process reads once, for each line of that lease, how many messages are passed over and for which
 * lanes. Its next scans of the line begin behind them, or at the first message of a lane that is no longer saturated.
 *
 * A message inserted before that position (its transaction or clock was more than five seconds behind) waits until the
 * positions are read again: after 10 seconds, or after 20 times the duration of the reading, at most a minute.
 */

import { setTimeout as delay } from "node:timers/promises";
import type { LeasedMessage } from "#delivery/message/message.ts";
import type { Queryable } from "#platform/database/pool.ts";
import type { LeaseOrder, Line, LineStart } from "./lease-order.ts";
import { leaseFromLines, listPassedOver, type PassedOver } from "./lease-store.ts";
import { keyOf, LineTurns } from "./line-turns.ts";

/** Positions are read after a scan that took this long. */
const SLOW_SCAN_MS = 50;
/**
 * A line with fewer passed-over messages is scanned from its start: they cost about a millisecond, and a scan that was slow
 * for another reason (a busy machine) must not hide messages for ten seconds. The exception is a reading that was slow too,
 * by this factor: then the index holds many more entries than messages.
 */
const MIN_PASSED_OVER = 1_000;
const SLOW_READING_FACTOR = 2;
const MIN_KEPT_MS = 10_000;
const MAX_KEPT_MS = 60_000;
/** Readings take at most a twentieth of the time, unless one takes longer than MAX_KEPT_MS / 20. */
const READING_BUDGET = 20;
/** A scan waits this long for a reading under way, and then goes on with the old positions: password resets must not wait. */
const MAX_WAIT_MS = 500;
/** How long the position of a line is read again although nothing waits in the line. */
const LINE_KEPT_MS = 600_000;

/** Lines of slow leases whose positions are read together. */
const MOST_READ = 2_000;

/** The turns and positions of the lines of one priority. */
export class QueueCursor {
  readonly #slowMs: number;
  readonly #now: () => number;
  readonly #turns = new LineTurns();
  /** In the order of lines. */
  #passed: readonly PassedOver[] = [];
  /** The lines of slow leases since the last reading. */
  readonly #slow = new Map<string, Line>();
  #validUntil = 0;
  /** When a slow scan may trigger a reading although the positions are still valid. */
  #mayReadAt = 0;
  #linesKnownUntil = 0;
  #wasSlow = false;
  /** The reading under way; the old positions are used until it ends. */
  #reading: Promise<void> | undefined;

  /** @param now in milliseconds */
  constructor(slowMs = SLOW_SCAN_MS, now: () => number = () => performance.now()) {
    this.#slowMs = slowMs;
    this.#now = now;
  }

  /** Whether lines are left that no lease has looked at since the last look at the first line. */
  get isMidRound(): boolean {
    return this.#turns.isMidRound;
  }

  /** Whether a workspace has more lines with due messages than the leases of a round take from it. */
  get hasFurther(): boolean {
    return this.#turns.hasFurther;
  }

  /** Leases messages of the lines whose turn it is. */
  async lease(db: Queryable, order: LeaseOrder): Promise<LeasedMessage[]> {
    this.#readWhenDue(db, order);
    if (this.#reading) await Promise.race([this.#reading, delay(MAX_WAIT_MS, undefined, { ref: false })]);
    const starts = startsOf(this.#passed, new Set(order.saturated));
    const startedAt = this.#now();
    let lines: readonly Line[] = [];
    try {
      const open = await this.#turns.next(db, order, starts);
      lines = open;
      if (open.length === 0) return [];
      const messages = await leaseFromLines(db, order, open);
      this.#turns.taken(open, messages);
      return messages;
    } finally {
      // Also after a failure: a statement that timed out was slow.
      this.#wasSlow = this.#now() - startedAt >= this.#slowMs;
      if (this.#wasSlow) this.#noteSlow(lines);
    }
  }

  #noteSlow(lines: readonly Line[]): void {
    for (const line of lines) if (this.#slow.size < MOST_READ) this.#slow.set(keyOf(line), line);
  }

  #readWhenDue(db: Queryable, order: LeaseOrder): void {
    const now = this.#now();
    const dueAt = this.#wasSlow ? Math.min(this.#mayReadAt, this.#validUntil) : this.#validUntil;
    if (this.#reading || now < dueAt) return;
    const known = now < this.#linesKnownUntil ? this.#passed : [];
    if (known.length === 0) this.#linesKnownUntil = now + LINE_KEPT_MS;
    const lines = new Map<string, Line>([
      ...known.map((line) => [keyOf(line), line] as const),
      ...this.#slow,
    ]);
    this.#slow.clear();
    if (lines.size === 0) {
      this.#passed = [];
      return;
    }
    this.#reading = this.#read(db, order, [...lines.values()], now).finally(() => {
      this.#reading = undefined;
    });
  }

  /** Never rejects: the scan itself fails if the database is unavailable. */
  async #read(db: Queryable, order: LeaseOrder, lines: readonly Line[], startedAt: number): Promise<void> {
    const passed = await listPassedOver(db, order, lines).catch((): PassedOver[] => []);
    const now = this.#now();
    const isSlow = now - startedAt >= this.#slowMs * SLOW_READING_FACTOR;
    this.#passed = passed
      .filter(({ count }) => isSlow || count >= MIN_PASSED_OVER)
      .sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
    this.#mayReadAt = now + (now - startedAt) * READING_BUDGET;
    this.#validUntil = Math.min(Math.max(this.#mayReadAt, now + MIN_KEPT_MS), now + MAX_KEPT_MS);
  }
}

/** For each line the first message of a lane that is not saturated, or the end of what is passed over. */
function startsOf(passed: readonly PassedOver[], saturated: ReadonlySet<string>): LineStart[] {
  return passed.map(({ workspace_id, campaign_id, ends_at, places, due_at: dueAt }) => {
    const open = dueAt.filter((_, at) => !saturated.has(places[at] ?? ""));
    return { workspace_id, campaign_id, starts_at: open.reduce((a, b) => (a < b ? a : b), ends_at) };
  });
}

/**
 * Looks at the queue that cost the same however much stands in front. What a full lane keeps back, and what has left but
 * is still in the index because somebody reads an old state of the database (a backup), is passed over row by row. When
 * a look was dear because of that, the process reads once how far it reaches in each line and whose mail it is, and
 * begins its next looks behind it; when one of those lanes has room again, at the first message for that one.
 *
 * Mail that gets in front of such a place, because a transaction or a clock was behind by more than five seconds, waits
 * until the places are read anew: after 10 seconds, or after twenty times as long as reading takes, a minute at most, and
 * as long as that reading takes.
 */

import { setTimeout as delay } from "node:timers/promises";
import type { LeasedMessage, Priority } from "#delivery/message/message.ts";
import type { Queryable } from "#platform/database/pool.ts";
import {
  type LeaseOrder,
  type LineStart,
  leaseEntries,
  listPassedOver,
  type PassedOver,
} from "./lease-store.ts";

const DEAR_LOOK_MS = 50;
/** To pass over fewer in a line is cheap, unless there is much more in the index than messages: then reading is dear. */
const FEW = 1_000;
const DEAR_READING = 2;
const SHORTEST_MS = 10_000;
const LONGEST_MS = 60_000;
/** Reading takes no more than the twentieth part of the time, unless that takes more than LONGEST_MS. */
const SHARE = 20;
/** So long a look waits for a reading: password resets must not stand behind one. */
const PATIENCE_MS = 500;
/** Lines are known for so long, also when nothing waits in them any more. */
const KNOWN_MS = 600_000;

/** From where on each line of one priority is looked at. */
export class LineStarts {
  readonly #dearMs: number;
  readonly #now: () => number;
  #passed: readonly PassedOver[] = [];
  #until = 0;
  /** When it may be read anew although what is remembered still holds. */
  #mayReadAt = 0;
  #knownUntil = 0;
  #wasDear = false;
  /** Under way; what was remembered before holds until it has ended. */
  #reading: Promise<void> | undefined;

  /** `now` is in milliseconds. */
  constructor(dearMs = DEAR_LOOK_MS, now: () => number = () => performance.now()) {
    this.#dearMs = dearMs;
    this.#now = now;
  }

  async lease(db: Queryable, order: LeaseOrder): Promise<LeasedMessage[]> {
    this.#readWhenDue(db, order);
    if (this.#reading) await Promise.race([this.#reading, delay(PATIENCE_MS, undefined, { ref: false })]);
    const starts = startsOf(this.#passed, new Set(order.saturated));
    const asked = this.#now();
    try {
      return await leaseEntries(db, order, starts);
    } finally {
      // A look that the database broke off for its length was dear, too.
      this.#wasDear = this.#now() - asked >= this.#dearMs;
    }
  }

  #readWhenDue(db: Queryable, order: LeaseOrder): void {
    const asked = this.#now();
    if (this.#reading || asked < (this.#wasDear ? Math.min(this.#mayReadAt, this.#until) : this.#until))
      return;
    const known = asked < this.#knownUntil ? this.#passed : [];
    if (!this.#wasDear && known.length === 0) {
      this.#passed = [];
      return;
    }
    if (known.length === 0) this.#knownUntil = asked + KNOWN_MS;
    this.#reading = this.#read(db, order, known, asked).finally(() => {
      this.#reading = undefined;
    });
  }

  /** Never rejects: of a database that is away the look itself will tell. */
  async #read(db: Queryable, order: LeaseOrder, known: readonly PassedOver[], asked: number): Promise<void> {
    const passed = await listPassedOver(db, order, known).catch((): PassedOver[] => []);
    const read = this.#now();
    const isDear = read - asked >= this.#dearMs * DEAR_READING;
    this.#passed = passed.filter(({ count }) => isDear || count >= FEW);
    this.#mayReadAt = read + (read - asked) * SHARE;
    this.#until = Math.min(Math.max(this.#mayReadAt, read + SHORTEST_MS), read + LONGEST_MS);
  }
}

/** In front of where nothing but mail for full lanes stands. */
function startsOf(passed: readonly PassedOver[], saturated: ReadonlySet<string>): LineStart[] {
  return passed.map(({ workspace_id, campaign_id, ends_at, places, due_at: dueAt }) => {
    const open = dueAt.filter((_, at) => !saturated.has(places[at] ?? ""));
    return { workspace_id, campaign_id, starts_at: open.reduce((a, b) => (a < b ? a : b), ends_at) };
  });
}

/** One process looks at one queue; tests look at several. */
const memories = new WeakMap<Queryable, Readonly<Record<Priority, LineStarts>>>();

/** Leases due messages of one priority (leaseEntries). */
export function leaseMessages(db: Queryable, order: LeaseOrder): Promise<LeasedMessage[]> {
  const memory = memories.get(db) ?? { 0: new LineStarts(), 1: new LineStarts() };
  memories.set(db, memory);
  return memory[order.priority].lease(db, order);
}

/**
 * How much a worker takes from the queue at a time, and how soon it looks again: enough to keep every session busy,
 * little enough to give back. Bulk mail leaves room, so that a password reset never waits for a campaign to be carried.
 */
import type { Database } from "../../platform/database/pool.ts";
import { localNetworks } from "../routes/local-networks.ts";
import type { Holdings } from "./holdings.ts";
import type { LeasedMessage } from "./lease-store.ts";
import { leaseMessages } from "./leases.ts";
import type { Priority } from "./queue-store.ts";

export const LEASE_SECONDS = 60;
const LEASE_BATCH = 250;
/** A look at the queue that passes over a long row for full lanes is dear: then more is taken at once, and less often. */
const DEAR_LOOK_MS = 100;
const LARGE_BATCH = 1_000;
/** Messages held at once, by priority. */
const MOST_HELD: Readonly<Record<Priority, number>> = { 0: 2_000, 1: 1_500 };
/**
 * Their content, as the queue's rows have it, again by priority: large bulk mail leaves room, too. A message that is
 * carried takes it about twice.
 */
const MOST_BYTES_HELD: Readonly<Record<Priority, number>> = { 0: 96 * 1024 * 1024, 1: 48 * 1024 * 1024 };
/** How often the queue is looked at without a notice: retries fall due silently. */
export const POLL_MS = 500;
const BUSY_POLL_MS = 100;

export interface LeasingOptions {
  readonly db: Database;
  readonly workerId: string;
  readonly held: Holdings;
  /** Recipient domains whose lanes are full. */
  readonly saturatedDomains: (priority: Priority) => readonly string[];
  /** Campaigns of which nothing is leased now. */
  readonly haltedCampaigns: () => readonly string[];
  /** Takes what was leased, until the given moment of `performance.now()`, into what is held. */
  readonly receive: (messages: readonly LeasedMessage[], until: number) => Promise<void>;
}

export class Leasing {
  readonly #options: LeasingOptions;
  /** Whether the last look at the queue left something there for want of room. */
  #leftSome = false;
  /** Whether it brought something although a lane was full: that lane will soon have room for more. */
  #isBusy = false;
  /** How long it took the database. */
  #lookMs = 0;

  constructor(options: LeasingOptions) {
    this.#options = options;
  }

  /** Whether something was left that there is room for by now. */
  get isDue(): boolean {
    const { held } = this.#options;
    return this.#leftSome && this.#roomFor(1) >= this.#batch && held.bytes < MOST_BYTES_HELD[1];
  }

  /** How long to wait for a notice before the next look. */
  get pauseMs(): number {
    return Math.max(this.#lookMs, this.#isBusy ? BUSY_POLL_MS : POLL_MS);
  }

  /** Leases what there is room for, transactional mail first. */
  async look(): Promise<void> {
    const { held, receive } = this.#options;
    this.#leftSome = false;
    this.#isBusy = false;
    const most = this.#batch;
    this.#lookMs = 0;
    for (const priority of [0, 1] as const) {
      const limit = Math.min(most, this.#roomFor(priority));
      const bytes = MOST_BYTES_HELD[priority] - held.bytes;
      if (limit <= 0 || bytes <= 0) {
        this.#leftSome = true;
        continue;
      }
      const until = performance.now() + LEASE_SECONDS * 1000;
      const saturated = this.#options.saturatedDomains(priority);
      const messages = await this.#lease(priority, limit, bytes, saturated);
      await receive(messages, until);
      this.#isBusy ||= saturated.length > 0 && messages.length > 0;
      this.#leftSome ||= messages.length === limit || held.bytes >= MOST_BYTES_HELD[priority];
    }
  }

  async #lease(priority: Priority, limit: number, bytes: number, saturated: readonly string[]) {
    const { db, workerId, haltedCampaigns } = this.#options;
    const asked = performance.now();
    const messages = await leaseMessages(db, {
      workerId,
      priority,
      limit,
      bytes,
      seconds: LEASE_SECONDS,
      saturated,
      networks: localNetworks().networks,
      halted: haltedCampaigns(),
    });
    this.#lookMs += performance.now() - asked;
    return messages;
  }

  get #batch(): number {
    return this.#lookMs < DEAR_LOOK_MS ? LEASE_BATCH : LARGE_BATCH;
  }

  #roomFor(priority: Priority): number {
    return MOST_HELD[priority] - this.#options.held.size;
  }
}

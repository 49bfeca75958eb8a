/**
 * How many messages a worker leases at a time, and when it leases again: enough to keep every session busy, few enough to
 * leave work to other workers. Bulk mail leaves room, so that a password reset does not wait for a campaign.
 */

import type { LeasedMessage, Priority } from "#delivery/message/message.ts";
import type { Database } from "#platform/database/pool.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import type { Limit } from "#platform/limits/limit.ts";
import { limits } from "#platform/limits/limits.ts";
import type { Log } from "#platform/log/log.ts";
import { localNetworks } from "#platform/network/own-addresses.ts";
import type { HeldMessages } from "./held-messages.ts";
import type { LeaseOrder } from "./lease-order.ts";
import { QueueCursor } from "./queue-cursor.ts";
import { type Lease, releaseUnknownLeases } from "./settle-leases-store.ts";

export const LEASE_SECONDS = 60;
const LEASE_BATCH = 250;
/** When a scan is slow because it skips many messages of saturated lanes, larger batches are leased less often. */
const SLOW_SCAN_MS = 100;
const LARGE_BATCH = 1_000;
/** The part of each limit that a priority may use: bulk mail leaves a quarter to transactional mail. */
const PART: Readonly<Record<Priority, number>> = { 0: 1, 1: 0.75 };
/**
 * A worker holds at most twice the limit of one workspace. The content of large messages is counted, although most of it is in
 * memory only while they are composed and sent; the queue row's size is about the memory it takes.
 */
const WORKSPACE_LIMITS = 2;
/** How often the queue is polled without a notification: retries fall due without one. */
export const QUEUE_POLL_MS = 500;
const BUSY_POLL_MS = 100;

export interface LeasingOptions {
  readonly db: Database;
  readonly workerId: string;
  readonly held: HeldMessages;
  readonly log: Log;
  /** Leases whose results are not in the database yet. */
  readonly unwritten: () => readonly Lease[];
  /** Recipient domains whose lanes are saturated. */
  readonly saturatedDomains: (priority: Priority) => readonly string[];
  /** Campaigns whose messages are not leased now. */
  readonly haltedCampaigns: () => readonly string[];
  /** Takes the leased messages; `until` is the end of their leases on the clock of `performance.now()`. */
  readonly receive: (messages: readonly LeasedMessage[], until: number) => Promise<void>;
}

export class Leasing {
  readonly #options: LeasingOptions;
  readonly #cursors: Readonly<Record<Priority, QueueCursor>> = { 0: new QueueCursor(), 1: new QueueCursor() };
  /** Whether the answer to a lease was lost: its messages may be leased without the worker knowing. */
  #isAnswerLost = false;
  /** Whether the last scan left due messages because there was no room. */
  #leftSome = false;
  /** Whether the last scan leased messages although a lane was saturated: that lane will soon take more messages. */
  #isBusy = false;
  /** Priorities with messages that arrived since their last round began: the lease of their lines may be over. */
  readonly #hasArrivals: Record<Priority, boolean> = { 0: false, 1: false };
  /** How long the scans of the last lease took in the database, and those of the round, in milliseconds. */
  #scanMs = 0;
  #roundMs = 0;
  /** Workspaces of which the last scan skipped all messages, or the large ones. */
  #full: readonly WorkspaceId[] = [];
  #crowded: readonly WorkspaceId[] = [];

  constructor(options: LeasingOptions) {
    this.#options = options;
  }

  /** Whether messages were left in the queue, or may be in lines that are still to be looked at, for which there is room now. */
  get isDue(): boolean {
    const hasLeft =
      this.#full.some((id) => !this.#isFull(id, 1)) || this.#crowded.some((id) => !this.#isCrowded(id, 1));
    return this.#isRoundDue(0) || this.#isRoundDue(1) || (this.#hasRoom(1) && (this.#leftSome || hasLeft));
  }

  /** To be called when messages were accepted: lines that the present round has passed are looked at again after it. */
  expectArrivals(): void {
    this.#hasArrivals[0] = true;
    this.#hasArrivals[1] = true;
  }

  /** How long to wait for a notification before the next scan. */
  get pauseMs(): number {
    return Math.max(this.#roundMs, this.#isBusy ? BUSY_POLL_MS : QUEUE_POLL_MS);
  }

  /** Leases as many messages as there is room for, transactional mail first. */
  async lease(): Promise<void> {
    const { receive } = this.#options;
    if (this.#isAnswerLost) await this.#releaseUnknown();
    this.#leftSome = false;
    const most = this.#batch;
    this.#scanMs = 0;
    if (!this.#cursors[0].isMidRound && !this.#cursors[1].isMidRound) {
      this.#isBusy = false;
      this.#roundMs = 0;
    }
    for (const priority of [0, 1] as const) {
      const limit = Math.min(most, this.#roomFor(priority));
      const bytes = this.#bytesFor(priority);
      const holders = [...this.#options.held.workspaces.keys()];
      this.#full = holders.filter((id) => this.#isFull(id, priority));
      this.#crowded = holders.filter((id) => this.#isCrowded(id, priority));
      if (limit <= 0 || bytes <= 0) {
        this.#leftSome = true;
        continue;
      }
      if (!this.#cursors[priority].isMidRound) this.#hasArrivals[priority] = false;
      const until = performance.now() + LEASE_SECONDS * 1000;
      const saturated = this.#options.saturatedDomains(priority);
      const messages = await this.#leasePriority(priority, { limit, bytes, saturated });
      await receive(messages, until);
      this.#isBusy ||= saturated.length > 0 && messages.length > 0;
      const workspaces = new Set(messages.map(({ workspace_id }) => workspace_id));
      // A workspace that reached its share in this batch may have displaced others; the next scan takes more of them.
      const isFuller = [...workspaces].some(
        (id) =>
          (this.#isFull(id, priority) && !this.#full.includes(id)) ||
          (this.#isCrowded(id, priority) && !this.#crowded.includes(id)),
      );
      const hasFurther = messages.length > 0 && this.#cursors[priority].hasFurther;
      this.#leftSome ||= messages.length === limit || hasFurther || isFuller || this.#bytesFor(priority) <= 0;
    }
  }

  async #leasePriority(
    priority: Priority,
    order: Pick<LeaseOrder, "limit" | "bytes" | "saturated">,
  ): Promise<LeasedMessage[]> {
    const { db, workerId, haltedCampaigns, held } = this.#options;
    const asked = performance.now();
    const lease: LeaseOrder = {
      ...order,
      workerId,
      priority,
      seconds: LEASE_SECONDS,
      networks: localNetworks().networks,
      halted: haltedCampaigns(),
      share: {
        messages: shareOf(limits.messagesUnderWay, priority),
        bytes: shareOf(limits.contentUnderWay, priority),
        held: [...held.workspaces].map(([workspaceId, holding]) => ({ workspaceId, ...holding })),
        full: this.#full,
        crowded: this.#crowded,
      },
    };
    const messages = await this.#cursors[priority].lease(db, lease).catch((error: unknown) => {
      this.#isAnswerLost = true;
      throw error;
    });
    const tookMs = performance.now() - asked;
    this.#scanMs += tookMs;
    this.#roundMs += tookMs;
    return messages;
  }

  /** Without this, the messages of a lost answer would wait until their leases lapse. */
  async #releaseUnknown(): Promise<void> {
    const { db, workerId, held, unwritten, log } = this.#options;
    const released = await releaseUnknownLeases(db, workerId, [...held.leases, ...unwritten()]);
    this.#isAnswerLost = false;
    if (released > 0) log.info({ released }, "leases released whose answer was lost");
  }

  /** Whether a workspace has so many messages under way that no more of its messages are leased. */
  #isFull(workspaceId: WorkspaceId, priority: Priority): boolean {
    const { messages } = this.#options.held.ofWorkspace(workspaceId);
    return messages > shareOf(limits.messagesUnderWay, priority) - LEASE_BATCH;
  }

  /** Whether its content exceeds half of the limit: then only small messages are leased. */
  #isCrowded(workspaceId: WorkspaceId, priority: Priority): boolean {
    const { bytes } = this.#options.held.ofWorkspace(workspaceId);
    return bytes > shareOf(limits.contentUnderWay, priority) / 2;
  }

  /** Whether lines are left to be looked at, and there is room for their messages. */
  #isRoundDue(priority: Priority): boolean {
    const isOpen = this.#cursors[priority].isMidRound || this.#hasArrivals[priority];
    return isOpen && this.#hasRoom(priority);
  }

  #hasRoom(priority: Priority): boolean {
    return this.#roomFor(priority) >= this.#batch && this.#bytesFor(priority) > 0;
  }

  get #batch(): number {
    return this.#scanMs < SLOW_SCAN_MS ? LEASE_BATCH : LARGE_BATCH;
  }

  #roomFor(priority: Priority): number {
    return WORKSPACE_LIMITS * shareOf(limits.messagesUnderWay, priority) - this.#options.held.size;
  }

  #bytesFor(priority: Priority): number {
    return WORKSPACE_LIMITS * shareOf(limits.contentUnderWay, priority) - this.#options.held.bytes;
  }
}

function shareOf({ most }: Limit, priority: Priority): number {
  return most * PART[priority];
}

/**
 * How many messages a worker leases at a time, and when it leases again: enough to keep every session busy, few enough to
 * leave work to other workers. Bulk mail leaves room, so that a password reset does not wait for a campaign.
 */

import type { LeasedMessage, Priority } from "#delivery/message/message.ts";
import type { Database } from "#platform/database/pool.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import type { Limit } from "#platform/limits/limit.ts";
import { limits } from "#platform/limits/limits.ts";
import { localNetworks } from "#platform/network/own-addresses.ts";
import type { HeldMessages } from "./held-messages.ts";
import type { LeaseOrder } from "./lease-store.ts";
import { QueueCursor } from "./queue-cursor.ts";

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
  /** Whether the last scan left due messages because there was no room. */
  #leftSome = false;
  /** Whether the last scan leased messages although a lane was saturated: that lane will soon take more messages. */
  #isBusy = false;
  /** How long the last scan took in the database, in milliseconds. */
  #scanMs = 0;
  /** Workspaces of which the last scan skipped all messages, or the large ones. */
  #full: readonly WorkspaceId[] = [];
  #crowded: readonly WorkspaceId[] = [];

  constructor(options: LeasingOptions) {
    this.#options = options;
  }

  /** Whether messages were left in the queue for which there is room now. */
  get isDue(): boolean {
    const hasRoom = this.#roomFor(1) >= this.#batch && this.#bytesFor(1) > 0;
    const hasLeft =
      this.#full.some((id) => !this.#isFull(id, 1)) || this.#crowded.some((id) => !this.#isCrowded(id, 1));
    return hasRoom && (this.#leftSome || hasLeft);
  }

  /** How long to wait for a notification before the next scan. */
  get pauseMs(): number {
    return Math.max(this.#scanMs, this.#isBusy ? BUSY_POLL_MS : QUEUE_POLL_MS);
  }

  /** Leases as many messages as there is room for, transactional mail first. */
  async lease(): Promise<void> {
    const { receive } = this.#options;
    this.#leftSome = false;
    this.#isBusy = false;
    const most = this.#batch;
    this.#scanMs = 0;
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
      this.#leftSome ||= messages.length === limit || isFuller || this.#bytesFor(priority) <= 0;
    }
  }

  async #leasePriority(
    priority: Priority,
    order: Pick<LeaseOrder, "limit" | "bytes" | "saturated">,
  ): Promise<LeasedMessage[]> {
    const { db, workerId, haltedCampaigns, held } = this.#options;
    const asked = performance.now();
    const messages = await this.#cursors[priority].lease(db, {
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
    });
    this.#scanMs += performance.now() - asked;
    return messages;
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

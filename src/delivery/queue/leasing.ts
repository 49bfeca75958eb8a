/**
 * How much a worker takes from the queue at a time, and how soon it looks again: enough to keep every session busy,
 * little enough to give back. Bulk mail leaves room, so that a password reset never waits for a campaign to be carried.
 */

import type { LeasedMessage, Priority } from "#delivery/message/message.ts";
import type { Database } from "#platform/database/pool.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import type { Limit } from "#platform/limits/limit.ts";
import { limits } from "#platform/limits/limits.ts";
import { localNetworks } from "#platform/network/local-networks.ts";
import type { HeldMessages } from "./held-messages.ts";
import type { LeaseOrder } from "./lease-store.ts";
import { leaseMessages } from "./queue-cursor.ts";

export const LEASE_SECONDS = 60;
const LEASE_BATCH = 250;
/** A look at the queue that passes over a long row for full lanes is dear: then more is taken at once, and less often. */
const DEAR_LOOK_MS = 100;
const LARGE_BATCH = 1_000;
/** Of what transactional mail has, campaigns and autoresponders have so much: large bulk mail leaves room, too. */
const OF: Readonly<Record<Priority, number>> = { 0: 1, 1: 0.75 };
/**
 * A process holds twice what one workspace may have under way. Of the content of large messages, most is in memory
 * only while they are composed and carried; it takes about the size that the queue's rows have for it.
 */
const WORKSPACES_WORTH = 2;
/** How often the queue is looked at without a notice: retries fall due silently. */
export const POLL_MS = 500;
const BUSY_POLL_MS = 100;

export interface LeasingOptions {
  readonly db: Database;
  readonly workerId: string;
  readonly held: HeldMessages;
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
  /** Workspaces of which the last look passed over all messages, or the large ones. */
  #full: readonly WorkspaceId[] = [];
  #crowded: readonly WorkspaceId[] = [];

  constructor(options: LeasingOptions) {
    this.#options = options;
  }

  /** Whether something was left that there is room for by now. */
  get isDue(): boolean {
    const hasRoom = this.#roomFor(1) >= this.#batch && this.#bytesFor(1) > 0;
    const hasLeft =
      this.#full.some((id) => !this.#isFull(id, 1)) || this.#crowded.some((id) => !this.#isCrowded(id, 1));
    return hasRoom && (this.#leftSome || hasLeft);
  }

  /** How long to wait for a notice before the next look. */
  get pauseMs(): number {
    return Math.max(this.#lookMs, this.#isBusy ? BUSY_POLL_MS : POLL_MS);
  }

  /** Leases what there is room for, transactional mail first. */
  async look(): Promise<void> {
    const { receive } = this.#options;
    this.#leftSome = false;
    this.#isBusy = false;
    const most = this.#batch;
    this.#lookMs = 0;
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
      const messages = await this.#lease(priority, { limit, bytes, saturated });
      await receive(messages, until);
      this.#isBusy ||= saturated.length > 0 && messages.length > 0;
      const workspaces = new Set(messages.map(({ workspace_id }) => workspace_id));
      // A workspace that has its share now may have kept the batch from others, of whom the next look takes more.
      const isFuller = [...workspaces].some(
        (id) =>
          (this.#isFull(id, priority) && !this.#full.includes(id)) ||
          (this.#isCrowded(id, priority) && !this.#crowded.includes(id)),
      );
      this.#leftSome ||= messages.length === limit || isFuller || this.#bytesFor(priority) <= 0;
    }
  }

  async #lease(
    priority: Priority,
    order: Pick<LeaseOrder, "limit" | "bytes" | "saturated">,
  ): Promise<LeasedMessage[]> {
    const { db, workerId, haltedCampaigns, held } = this.#options;
    const asked = performance.now();
    const messages = await leaseMessages(db, {
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
    this.#lookMs += performance.now() - asked;
    return messages;
  }

  /** Whether a workspace has so many messages under way that others go first until some have left. */
  #isFull(workspaceId: WorkspaceId, priority: Priority): boolean {
    const { messages } = this.#options.held.ofWorkspace(workspaceId);
    return messages > shareOf(limits.messagesUnderWay, priority) - LEASE_BATCH;
  }

  /** The same of their content: beyond the half, only small messages follow. */
  #isCrowded(workspaceId: WorkspaceId, priority: Priority): boolean {
    const { bytes } = this.#options.held.ofWorkspace(workspaceId);
    return bytes > shareOf(limits.contentUnderWay, priority) / 2;
  }

  get #batch(): number {
    return this.#lookMs < DEAR_LOOK_MS ? LEASE_BATCH : LARGE_BATCH;
  }

  #roomFor(priority: Priority): number {
    return WORKSPACES_WORTH * shareOf(limits.messagesUnderWay, priority) - this.#options.held.size;
  }

  #bytesFor(priority: Priority): number {
    return WORKSPACES_WORTH * shareOf(limits.contentUnderWay, priority) - this.#options.held.bytes;
  }
}

function shareOf({ most }: Limit, priority: Priority): number {
  return most * OF[priority];
}

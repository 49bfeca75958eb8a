/** What a lease asks for, and the lines of the queue. */
import type { Priority } from "#delivery/message/message.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import type { Holding } from "./held-messages.ts";

/** Larger content is loaded only when the message is composed, and assembled in a thread of its own. */
export const LARGE_BYTES = 100 * 1024;

/** What a worker asks of the queue. */
export interface LeaseOrder {
  readonly workerId: string;
  readonly priority: Priority;
  readonly limit: number;
  readonly bytes: number;
  readonly seconds: number;
  /** Recipient domains whose lanes are saturated, as destinationKey of smtp-transport.ts makes them. */
  readonly saturated: readonly string[];
  /** The networks of this machine: messages reserved for another source address stay in the queue. */
  readonly networks?: readonly string[];
  /** Campaigns whose messages are not leased. */
  readonly halted?: readonly string[];
  /** The limit of one workspace; unlimited without it. */
  readonly share?: WorkspaceShare;
}

/** How many of the worker's held messages may belong to one workspace. */
export interface WorkspaceShare {
  readonly messages: number;
  readonly bytes: number;
  /** The messages and bytes that the worker already holds for each workspace. */
  readonly held: readonly (Holding & { readonly workspaceId: WorkspaceId })[];
  /** Workspaces of which nothing more is leased. */
  readonly full: readonly WorkspaceId[];
  /** Workspaces of which no more large messages (LARGE_BYTES) are leased. */
  readonly crowded: readonly WorkspaceId[];
}

/** The share of an order that limits no workspace. */
export const unlimitedShare: WorkspaceShare = {
  messages: Number.MAX_SAFE_INTEGER,
  bytes: Number.MAX_SAFE_INTEGER,
  held: [],
  full: [],
  crowded: [],
};

/** One line of the queue: a campaign, or what a workspace sends outside of campaigns. */
export interface Line {
  readonly workspace_id: WorkspaceId;
  /** The nil UUID outside of campaigns. */
  readonly campaign_id: string;
}

/** Where the scan of a line begins: messages due earlier cannot be leased now. */
export interface LineStart extends Line {
  readonly starts_at: Date | null;
}

/**
 * Sources and statuses of messages, and the legal changes of status. Every other change is ignored: it is the result of
 * a late or repeated report.
 */
import type { WorkspaceId } from "#platform/ids.ts";

export const messageSources = ["campaign", "autoresponder", "api", "smtp", "platform"] as const;
export type MessageSource = (typeof messageSources)[number];

export const messageStatuses = [
  "queued",
  "sending",
  "delivered",
  "deferred",
  "bounced",
  "failed",
  "suppressed",
  "cancelled",
  "complained",
] as const;
export type MessageStatus = (typeof messageStatuses)[number];

/** `sending` is never stored: a message shows it while a delivery worker holds its lease. */
export type StoredStatus = Exclude<MessageStatus, "sending">;
export const storedStatuses = messageStatuses.filter(
  (status): status is StoredStatus => status !== "sending",
);

/**
 * Stored statuses from which each status can be reached. A DSN may turn delivered into bounced. Bounced is reached from
 * bounced only when a later report says that the address is invalid after all (record-outcomes.ts). A complaint shows
 * that the mail was delivered, whatever its status; complained is final.
 */
export const reachableFrom = {
  delivered: ["queued", "deferred"],
  deferred: ["queued", "deferred"],
  bounced: ["queued", "deferred", "delivered", "bounced"],
  failed: ["queued", "deferred"],
  suppressed: ["queued", "deferred"],
  cancelled: ["queued", "deferred"],
  complained: ["delivered", "bounced", "failed", "suppressed", "cancelled"],
} as const satisfies Partial<Record<MessageStatus, readonly MessageStatus[]>>;

/** A status that an outcome can set. */
export type OutcomeStatus = keyof typeof reachableFrom;

/** The properties that all messages of one origin share. */
export interface MessageOrigin {
  readonly workspaceId: WorkspaceId;
  readonly source: MessageSource;
  readonly originId: string;
  readonly originName: string;
  readonly fromEmail: string;
  readonly subject: string;
  readonly isSms?: boolean;
  readonly createdAt: Date;
}

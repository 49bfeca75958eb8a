/** The counters of messages, under the names of their columns (db/migrations/0017-reporting.sql). */
import sql, { join, raw, type Sql } from "sql-template-tag";
import { type StoredStatus, storedStatuses } from "#messages/message/status.ts";

/**
 * Engagement, by the time at which the message was accepted. `unique_…` counts messages; a clicked message also counts
 * as opened. `machine_…` counts programs, which no other figure contains.
 */
export const engagementCounters = [
  "unique_opens",
  "unique_clicks",
  "opens",
  "clicks",
  "machine_opens",
  "machine_clicks",
  "unsubscribed",
] as const;

/**
 * Counted at the time of the event; the statuses `bounced` and `complained` count the same messages at the time of
 * acceptance.
 */
export const eventCounters = ["hard_bounces", "soft_bounces", "block_bounces", "complaints"] as const;

/** All counters: messages by current status (`sending` counts as `queued` or `deferred`), engagement and events. */
export const counters = [...storedStatuses, ...engagementCounters, ...eventCounters] as const;

export type MessageStatusCounts = Readonly<Record<StoredStatus, number>>;
export type Counts = MessageStatusCounts &
  Readonly<Record<(typeof engagementCounters)[number] | (typeof eventCounters)[number], number>>;

/** Column names as a comma-separated part of a statement. */
export const columnsSql = (names: readonly string[]): Sql => join(names.map((name) => raw(name)));

/** For a `select`: the sum of each column, under the column's name; 0 without rows. */
export const sumsSql = (names: readonly string[]): Sql =>
  join(names.map((name) => sql`coalesce(sum(${raw(name)}), 0)::bigint as ${raw(name)}`));

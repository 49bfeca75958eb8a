/** What is counted about messages, under the names that the columns have (db/migrations/0015-reporting.sql). */
import sql, { join, raw, type Sql } from "sql-template-tag";
import { type StoredStatus, storedStatuses } from "#messages/message/status.ts";

/**
 * What recipients did, by when their message was accepted. `unique_…` counts messages, and a message that was clicked in
 * is one that was opened; `machine_…` is what programs did and is in no other figure.
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

/** By when it happened; `bounced` and `complained` count the same messages by when they were accepted. */
export const eventCounters = ["hard_bounces", "soft_bounces", "block_bounces", "complaints"] as const;

/** Statuses (how many messages have each at present, `sending` being `queued` or `deferred`) and the rest. */
export const counters = [...storedStatuses, ...engagementCounters, ...eventCounters] as const;

export type MessageStatusCounts = Readonly<Record<StoredStatus, number>>;
export type Counts = MessageStatusCounts &
  Readonly<Record<(typeof engagementCounters)[number] | (typeof eventCounters)[number], number>>;

/** Column names as a comma-separated part of a statement. */
export const columnsSql = (names: readonly string[]): Sql => join(names.map((name) => raw(name)));

/** For a `select`: the sum of each column, under the column's name; 0 without rows. */
export const sumsSql = (names: readonly string[]): Sql =>
  join(names.map((name) => sql`coalesce(sum(${raw(name)}), 0)::bigint as ${raw(name)}`));

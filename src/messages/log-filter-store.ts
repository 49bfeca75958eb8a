/** Filters of the message log, as relations that PostgreSQL reads along an index, by source and status. */
import sql, { empty, join, type Sql } from "sql-template-tag";
import type { Queryable } from "#platform/database/pool.ts";
import { lastId, type WorkspaceId } from "#platform/ids.ts";
import {
  type MessageSource,
  type MessageStatus,
  messageSources,
  type StoredStatus,
  storedStatuses,
} from "./message/status.ts";

export interface LogFilter {
  readonly source?: MessageSource | undefined;
  readonly status?: MessageStatus | undefined;
  /** The sender, such as a campaign. Its messages have ids from `first` to `last`. */
  readonly origin?: { readonly id: string; readonly first: string; readonly last: string } | undefined;
}

/** A filter with the leased messages (readable), which those with a status need. */
export interface ReadFilter extends LogFilter {
  readonly held: readonly string[];
}

/** Messages that a delivery worker has leased: they show as `sending` (message/status.ts). There are few. */
export const heldSql = (workspaceId: WorkspaceId): Sql => sql`array(
  select message_id from delivery_queue where workspace_id = ${workspaceId} and leased_by is not null)`;

const heldStatuses: readonly StoredStatus[] = ["queued", "deferred"];

/** Whether messages stored with this status may show as `sending`. */
export const canBeHeld = (status: MessageStatus): boolean => heldStatuses.some((held) => held === status);

/** A value: how many messages of one origin are leased and stored with these statuses. */
export const countHeldSql = (
  workspaceId: WorkspaceId,
  originId: string,
  statuses: readonly StoredStatus[],
): Sql => sql`(
  select count(*) from messages
  where workspace_id = ${workspaceId} and id = any (${heldSql(workspaceId)}) and origin_id = ${originId}
    and status = any (${[...statuses]}::text[]))`;

/** The stored statuses of messages that show this status. */
export const storedAs = (status: MessageStatus): readonly StoredStatus[] =>
  status === "sending" ? heldStatuses : [status];

/**
 * The filter with the ids of heldSql. A statement that gets them as values opens the days of the log that they are in, and
 * with the relation it opens every day.
 */
export async function readable<Filter extends Pick<LogFilter, "status">>(
  db: Queryable,
  workspaceId: WorkspaceId,
  filter: Filter,
): Promise<Filter & Pick<ReadFilter, "held">> {
  const { status } = filter;
  if (status === undefined || (status !== "sending" && !canBeHeld(status))) return { ...filter, held: [] };
  const row = await db.row<{ ids: string[] }>(sql`select ${heldSql(workspaceId)} as ids`);
  return { ...filter, held: row?.ids ?? [] };
}

/** A condition on a message `m` with such a stored status: whether it shows this status. Begins with `and`. */
export function shows({ status, held }: Pick<ReadFilter, "status" | "held">): Sql {
  if (status === "sending") return sql`and m.id = any (${held}::uuid[])`;
  return status && canBeHeld(status) && held.length > 0 ? sql`and m.id <> all (${held}::uuid[])` : empty;
}

/** A condition on a message `m`: the origin of the filter. Begins with `and`. */
export const isFrom = ({ origin }: LogFilter): Sql =>
  origin ? sql`and m.origin_id = ${origin.id} and m.id between ${origin.first} and ${origin.last}` : empty;

/** Ids from `lowest` to below `above`. */
export interface IdSpan {
  readonly lowest: string;
  readonly above: string;
}

/** Where messages of each source are; a source without a span has none. */
export type IdSpans = { readonly [Source in MessageSource]?: IdSpan | undefined };

const nothing: IdSpan = { lowest: lastId, above: lastId };

/**
 * Messages as a relation `m` that can be read in the order of ids without sorting: the index is by source and status,
 * so that a filter that names neither reads the union of all of them.
 * @param where begins with `and`
 * @param most only so many of the newest, of each source and status
 * @param spans of a filter by source or status: only these ids (findSpans)
 */
export function logSql(
  workspaceId: WorkspaceId,
  columns: Sql,
  {
    sources = messageSources,
    statuses = storedStatuses,
    where = empty,
    most,
    spans,
  }: {
    readonly sources?: readonly MessageSource[] | undefined;
    readonly statuses?: readonly StoredStatus[] | undefined;
    readonly where?: Sql;
    readonly most?: number | undefined;
    readonly spans?: IdSpans | undefined;
  },
): Sql {
  const from = (source: MessageSource) => {
    if (spans === undefined) return empty;
    const { lowest, above } = spans[source] ?? nothing;
    return sql`and m.id >= ${lowest} and m.id < ${above}`;
  };
  const isAny = sources === messageSources && statuses === storedStatuses;
  const kinds = isAny
    ? [empty]
    : sources.flatMap((source) =>
        statuses.map((status) => sql`and m.source = ${source} and m.status = ${status} ${from(source)}`),
      );
  const newest = most === undefined ? empty : sql`order by m.id desc limit ${most}`;
  const branches = kinds.map(
    (kind) => sql`(
      select ${columns} from messages m where m.workspace_id = ${workspaceId} ${kind} ${where} ${newest})`,
  );
  return sql`(${join(branches, " union all ")}) m`;
}

export function filteredSql(
  workspaceId: WorkspaceId,
  columns: Sql,
  filter: ReadFilter,
  {
    where = empty,
    ...options
  }: {
    readonly where?: Sql;
    readonly most?: number | undefined;
    readonly spans?: IdSpans | undefined;
  } = {},
): Sql {
  const { source, status } = filter;
  return logSql(workspaceId, columns, {
    ...options,
    sources: source && [source],
    statuses: status && storedAs(status),
    where: sql`${shows(filter)} ${isFrom(filter)} ${where}`,
  });
}

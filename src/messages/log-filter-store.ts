/** What a filter leaves of the message log, as relations to read from: along indexes, by source and status. */
import sql, { empty, join, type Sql } from "sql-template-tag";
import type { WorkspaceId } from "#platform/ids.ts";
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
  /** What sent them. Its messages have ids from `first` to `last`. */
  readonly origin?: { readonly id: string; readonly first: string; readonly last: string } | undefined;
}

/** Messages that a delivery worker holds: they show as being sent (message/status.ts). There are few. */
export const heldSql = (workspaceId: WorkspaceId): Sql => sql`array(
  select message_id from delivery_queue where workspace_id = ${workspaceId} and leased_by is not null)`;

const heldStatuses: readonly StoredStatus[] = ["queued", "deferred"];

/** Whether some of the messages that are stored with this status show another, because they are held. */
export const canBeHeld = (status: MessageStatus): boolean => heldStatuses.some((held) => held === status);

/** Of what one origin has sent, how many messages are held that are stored with these statuses: a value. */
export const countHeldSql = (
  workspaceId: WorkspaceId,
  originId: string,
  statuses: readonly StoredStatus[],
): Sql => sql`(
  select count(*) from messages
  where workspace_id = ${workspaceId} and id = any (${heldSql(workspaceId)}) and origin_id = ${originId}
    and status = any (${[...statuses]}::text[]))`;

/** The statuses that messages which show this one are stored with. */
export const storedAs = (status: MessageStatus): readonly StoredStatus[] =>
  status === "sending" ? heldStatuses : [status];

/** Of a message `m` stored with a status that may show this one: begins with `and`. */
export function shows(workspaceId: WorkspaceId, status: MessageStatus | undefined): Sql {
  if (status === "sending") return sql`and m.id = any (${heldSql(workspaceId)})`;
  return status && canBeHeld(status) ? sql`and m.id <> all (${heldSql(workspaceId)})` : empty;
}

/** Of a message `m` by whatever sent it: begins with `and`. */
export const isFrom = ({ origin }: LogFilter): Sql =>
  origin ? sql`and m.origin_id = ${origin.id} and m.id between ${origin.first} and ${origin.last}` : empty;

/**
 * Columns of messages as a relation `m` that is read in the order of ids without sorting: the index knows them by source
 * and status, and whoever asks for any asks for all of those.
 * @param where begins with `and`
 * @param most as many of the newest are enough, of each source and status
 */
export function logSql(
  workspaceId: WorkspaceId,
  columns: Sql,
  {
    sources = messageSources,
    statuses = storedStatuses,
    where = empty,
    most,
  }: {
    readonly sources?: readonly MessageSource[] | undefined;
    readonly statuses?: readonly StoredStatus[] | undefined;
    readonly where?: Sql;
    readonly most?: number | undefined;
  },
): Sql {
  const isAny = sources === messageSources && statuses === storedStatuses;
  const kinds = isAny
    ? [empty]
    : sources.flatMap((source) =>
        statuses.map((status) => sql`and m.source = ${source} and m.status = ${status}`),
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
  filter: LogFilter,
  { where = empty, ...options }: { readonly where?: Sql; readonly most?: number } = {},
): Sql {
  const { source, status } = filter;
  return logSql(workspaceId, columns, {
    ...options,
    sources: source && [source],
    statuses: status && storedAs(status),
    where: sql`${shows(workspaceId, status)} ${isFrom(filter)} ${where}`,
  });
}

/** The message log by recipient. */
import sql, { empty, join, type Sql } from "sql-template-tag";
import type { Queryable } from "../platform/database/pool.ts";
import type { WorkspaceId } from "../platform/ids.ts";
import {
  filteredSql,
  isFrom,
  type LogFilter,
  logSql,
  type Page,
  shows,
  storedAs,
} from "./log-filter-store.ts";

/** A search looks at so many messages, the newest. */
export const MOST_SEARCHED = 10_000;

export interface Found {
  /** Of a page, newest first. */
  readonly ids: readonly string[];
  readonly total: number;
  /** Older messages were not looked at; null when all were. */
  readonly since: Date | null;
}

const address = sql`lower(m.localpart || '@' || m.domain)`;

/**
 * Messages by recipient. Somebody's whole address, in any case, is found by an index wherever it is in the log; anything
 * else as a part of addresses, among the newest messages that the filter leaves. A message gets into the index with its
 * first outcome, so that acceptance does not pay for it: those before it are looked through.
 */
export async function searchMessages(
  db: Queryable,
  workspaceId: WorkspaceId,
  { email, ...filter }: LogFilter & { readonly email: string },
  page: Page,
): Promise<Found> {
  const columns = sql`m.id, m.created_at, m.source, m.origin_id, m.status, m.localpart, m.domain`;
  if (/^[^@]+@[^@]+$/.test(email)) {
    const { source, status } = filter;
    const settled = sql`(
      select ${columns} from messages m
      where m.workspace_id = ${workspaceId} and m.status <> 'queued'
        and hashtext(${address}) = hashtext(lower(${email}))) m`;
    const waiting = logSql(workspaceId, columns, {
      sources: source && [source],
      statuses: ["queued"],
      where: isFrom(filter),
      most: MOST_SEARCHED,
    });
    const { isKnown, ...found } = await search(db, page, {
      places: [settled, waiting],
      isMeant: sql`${address} = lower(${email})`,
      isLeft: sql`true ${source ? sql`and m.source = ${source}` : empty} ${isFrom(filter)}
        ${status ? sql`and m.status = any (${[...storedAs(status)]}::text[])` : empty} ${shows(workspaceId, status)}`,
    });
    if (isKnown) return found;
  }
  const { isKnown: _isKnown, ...found } = await search(db, page, {
    places: [filteredSql(workspaceId, columns, filter, { most: MOST_SEARCHED })],
    isMeant: sql`position(lower(${email}) in ${address}) > 0`,
    isLeft: sql`true`,
  });
  return found;
}

async function search(
  db: Queryable,
  { limit, offset }: Page,
  {
    places,
    isMeant,
    isLeft,
  }: {
    /** Relations `m`; the newest of each are looked at. */
    readonly places: readonly Sql[];
    /** Whether a message `m` went to a recipient who is searched for. */
    readonly isMeant: Sql;
    /** Whether the filter leaves it. */
    readonly isLeft: Sql;
  },
): Promise<Found & { readonly isKnown: boolean }> {
  const newest = places.map(
    (place, at) => sql`
      select * from (select ${at}::int as place, m.* from ${place} order by m.id desc limit ${MOST_SEARCHED}) m`,
  );
  const found = await db.row<Found & { readonly isKnown: boolean }>(sql`
    with looked as materialized (${join(newest, " union all ")}),
      meant as materialized (select * from looked m where ${isMeant}),
      remaining as materialized (select id from meant m where ${isLeft})
    select array(select id from remaining order by id desc limit ${limit} offset ${offset}) as ids,
      (select count(*) from remaining) as total, exists (select from meant) as "isKnown",
      (select max(oldest)
        from (select min(created_at) as oldest from looked group by place having count(*) = ${MOST_SEARCHED}) cut) as since`);
  if (found === undefined) throw new Error("no row");
  return found;
}

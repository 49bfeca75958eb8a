/** Searches the message log by recipient. */
import sql, { empty, join } from "sql-template-tag";
import { domainInALabels } from "#mail/address.ts";
import type { Page } from "#platform/database/page.ts";
import type { Queryable } from "#platform/database/pool.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import { findSpans } from "./log-counts-store.ts";
import {
  filteredSql,
  isFrom,
  type LogFilter,
  logSql,
  readable,
  shows,
  storedAs,
} from "./log-filter-store.ts";

/** A search reads this many of the newest messages. */
export const MOST_SEARCHED = 10_000;

export interface Found {
  /** Ids of the page, newest first. */
  readonly ids: readonly string[];
  readonly total: number;
  /** Messages older than this were not all searched; null when all were. */
  readonly since: Date | null;
}

const address = sql`lower(m.localpart || '@' || m.domain)`;

/**
 * Messages whose recipient's address contains a text, in any case, among the newest that the filter leaves. For a whole
 * address an index finds the older messages, too. A message enters that index with its first outcome, which keeps
 * acceptance cheap: of the messages still waiting for it, the newest are searched as well.
 * @param db without an origin in the filter, a transaction of one snapshot (findSpans)
 */
export async function searchMessages(
  db: Queryable,
  workspaceId: WorkspaceId,
  { email, ...asked }: LogFilter & { readonly email: string },
  { limit, offset, after }: Page,
): Promise<Found> {
  const filter = await readable(db, workspaceId, asked);
  const { source, status, origin } = filter;
  const spansOf = (of: LogFilter) =>
    origin
      ? undefined
      : findSpans(db, workspaceId, { ...of, held: filter.held }, { most: MOST_SEARCHED, below: undefined });
  // A text without an @ may be part of a local part.
  const wanted = email.includes("@") ? domainInALabels(email) : email;
  const columns = sql`m.id, m.created_at, m.source, m.origin_id, m.status, m.localpart, m.domain`;
  const places = [
    filteredSql(workspaceId, columns, filter, {
      most: MOST_SEARCHED,
      spans: await spansOf({ source, status }),
    }),
  ];
  if (/^[^@]+@[^@]+$/.test(email)) {
    places.push(sql`(
      select ${columns} from messages m
      where m.workspace_id = ${workspaceId} and m.status <> 'queued'
        and hashtext(${address}) = hashtext(lower(${wanted})) and ${address} = lower(${wanted})) m`);
    if (status === undefined) {
      const waiting = { sources: source && [source], statuses: ["queued"], where: isFrom(filter) } as const;
      const spans = await spansOf({ source, status: "queued" });
      places.push(logSql(workspaceId, columns, { ...waiting, most: MOST_SEARCHED, spans }));
    }
  }
  const newest = places.map(
    (place, at) => sql`
      select * from (select ${at}::int as place, m.* from ${place} order by m.id desc limit ${MOST_SEARCHED}) m`,
  );
  const found = await db.row<Found>(sql`
    with looked as materialized (${join(newest, " union all ")}),
      meant as materialized (
        select distinct id from looked m
        where position(lower(${wanted}) in ${address}) > 0 ${source ? sql`and m.source = ${source}` : empty}
          ${isFrom(filter)} ${status ? sql`and m.status = any (${[...storedAs(status)]}::text[])` : empty}
          ${shows(filter)})
    select array(select id from meant ${after === undefined ? empty : sql`where id < ${after}`}
        order by id desc limit ${limit} offset ${offset}) as ids,
      (select count(*) from meant) as total,
      (select max(oldest) from (
        select min(created_at) as oldest from looked group by place having count(*) = ${MOST_SEARCHED}) cut) as since`);
  if (found === undefined) throw new Error("no row");
  return found;
}

/**
 * The ids of a page, newest person first: by position among the members of a list or all people, or by search. The rows
 * are read by id afterwards (store.ts), so a skipped row costs one index entry.
 */
import sql, { empty, join, type Sql } from "sql-template-tag";
import type { Page } from "#platform/database/page.ts";
import { type PageStart, STRIDE } from "#platform/database/page-anchors.ts";
import type { Queryable } from "#platform/database/pool.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import type { SubscriberStatus } from "./memberships/status.ts";
import { MOST_FOUND, searchedPeople } from "./search-conditions.ts";

/** Which people to page through. */
export interface SubscriberFilter {
  /** Null: all people of the workspace. */
  readonly mailingListId: string | null;
  /** The status on the list; without a list the status of the person. */
  readonly status: SubscriberStatus | undefined;
}

/** A relation with the column id that an index returns in the order of ids. */
function ids(workspaceId: WorkspaceId, { mailingListId, status }: SubscriberFilter): Sql {
  const ofStatus = status === undefined ? empty : sql`and status = ${status}`;
  return mailingListId === null
    ? sql`(select id from subscribers where workspace_id = ${workspaceId} ${ofStatus})`
    : sql`(select subscriber_id as id from memberships
        where workspace_id = ${workspaceId} and mailing_list_id = ${mailingListId} ${ofStatus})`;
}

/** The ids of one page, from a position. */
export async function listIdsAt(
  db: Queryable,
  workspaceId: WorkspaceId,
  audience: SubscriberFilter,
  { from, skip }: PageStart,
  limit: number,
): Promise<string[]> {
  const rows = await db.rows<{ id: string }>(sql`
    select id from ${ids(workspaceId, audience)} a ${from === null ? empty : sql`where id <= ${from}`}
    order by id desc limit ${limit} offset ${skip}`);
  return rows.map((row) => row.id);
}

/** The ids after this one, which need not exist any more. */
export async function listIdsAfter(
  db: Queryable,
  workspaceId: WorkspaceId,
  audience: SubscriberFilter,
  after: string,
  limit: number,
): Promise<string[]> {
  const rows = await db.rows<{ id: string }>(sql`
    select id from ${ids(workspaceId, audience)} a where id < ${after} order by id desc limit ${limit}`);
  return rows.map((row) => row.id);
}

/** Every STRIDE-th id, starting with the first. */
export async function listAnchors(
  db: Queryable,
  workspaceId: WorkspaceId,
  audience: SubscriberFilter,
): Promise<string[]> {
  const rows = await db.rows<{ id: string }>(sql`
    select id from (
      select id, row_number() over (order by id desc) as place from ${ids(workspaceId, audience)} a) p
    where place % ${STRIDE} = 1 order by place`);
  return rows.map((row) => row.id);
}

/** The ids of one page of search results, and the number of results (at most MOST_FOUND). */
export async function searchIds(
  db: Queryable,
  workspaceId: WorkspaceId,
  { mailingListId, status }: SubscriberFilter,
  text: string,
  page: Page,
): Promise<{ ids: string[]; total: number }> {
  const onList = sql`join memberships m on m.workspace_id = ${workspaceId} and m.mailing_list_id = ${mailingListId}
    and m.subscriber_id = s.id`;
  const statusOf = mailingListId === null ? sql`s.status` : sql`m.status`;
  const branches = searchedPeople(workspaceId, text).map(
    (people) => sql`(
      select s.id from ${people} ${mailingListId === null ? empty : onList}
      where s.workspace_id = ${workspaceId}
        ${status === undefined ? empty : sql`and ${statusOf} = ${status}`}
      limit ${MOST_FOUND})`,
  );
  const found = await db.row<{ ids: string[]; total: number }>(sql`
    with found as materialized (select id from (${join(branches, " union ")}) f limit ${MOST_FOUND})
    select (select count(*)::int from found) as total,
      array(select id from found ${page.after === undefined ? empty : sql`where id < ${page.after}`}
        order by id desc limit ${page.limit} offset ${page.offset}) as ids`);
  return found ?? { ids: [], total: 0 };
}

/**
 * People by joined, opened, clicked and a custom field, sorted by one of several columns. Each condition and each order
 * has its own index on subscribers (db/migrations/0008-audience.sql; subscribers_by_custom_fields for the field).
 */
import sql, { empty, join, raw, type Sql } from "sql-template-tag";
import type { Page } from "#platform/database/page.ts";
import type { Queryable } from "#platform/database/pool.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import type { SubscriberFilter } from "./page-store.ts";
import type { PersonFilter, PersonOrder } from "./person-filter.ts";
import { MOST_FOUND, type PeopleTotal, searchConditions, searchTotal } from "./search-conditions.ts";

/** Everything that selects people. */
export interface PeopleSelection extends SubscriberFilter {
  readonly search: string | undefined;
  readonly filter: PersonFilter;
}

/** Conditions on the rows `s` of subscribers, and `m` of memberships if the selection has a list. */
function conditionsOf(workspaceId: WorkspaceId, { mailingListId, status, filter }: PeopleSelection): Sql[] {
  const joined = mailingListId === null ? sql`s.created_at` : sql`m.subscribed_at`;
  return [
    sql`s.workspace_id = ${workspaceId}`,
    ...(status === undefined
      ? []
      : [mailingListId === null ? sql`s.status = ${status}` : sql`m.status = ${status}`]),
    ...filterConditions(filter, joined),
  ];
}

/** Conditions of the filter on the rows `s` of subscribers. @param joined the column with the time of joining */
export function filterConditions(filter: PersonFilter, joined: Sql): Sql[] {
  const { joinedFrom, joinedTo, openedSince, clickedSince, fieldParts } = filter;
  return [
    ...(joinedFrom === null ? [] : [sql`${joined} >= ${joinedFrom}`]),
    ...(joinedTo === null ? [] : [sql`${joined} < ${joinedTo}`]),
    ...(openedSince === null ? [] : [sql`s.last_opened_at >= ${openedSince}`]),
    ...(filter.neverOpened ? [sql`s.last_opened_at is null`] : []),
    ...(clickedSince === null ? [] : [sql`s.last_clicked_at >= ${clickedSince}`]),
    ...(filter.neverClicked ? [sql`s.last_clicked_at is null`] : []),
    ...(fieldParts === null
      ? []
      : [
          sql`(${join(
            fieldParts.map((part) => sql`s.custom_fields @> ${part}::jsonb`),
            " or ",
          )})`,
        ]),
  ];
}

/** `from` and `where` of the selection without its search. */
function fromPeople(workspaceId: WorkspaceId, selection: PeopleSelection, ...also: readonly Sql[]): Sql {
  const { mailingListId } = selection;
  const member =
    mailingListId === null
      ? empty
      : sql`join memberships m on m.workspace_id = ${workspaceId} and m.mailing_list_id = ${mailingListId}
          and m.subscriber_id = s.id`;
  return sql`from subscribers s ${member} where ${join([...conditionsOf(workspaceId, selection), ...also], " and ")}`;
}

/** Limits the time of each later statement of the transaction. */
export async function limitStatements(tx: Queryable, mostMs: number): Promise<void> {
  await tx.run(sql`select set_config('statement_timeout', ${String(mostMs)}, true)`);
}

/** A select in brackets of the ids of all people of the selection; of a search without its limit. */
export function selectedIdsSql(workspaceId: WorkspaceId, selection: PeopleSelection): Sql {
  const { search } = selection;
  if (search === undefined) return sql`(select s.id ${fromPeople(workspaceId, selection)})`;
  const branches = searchConditions(search).map(
    (condition) => sql`select s.id ${fromPeople(workspaceId, selection, condition)}`,
  );
  return sql`(${join(branches, " union ")})`;
}

/** How people are sorted: as an index of the column is, so that a page is read from it in order. */
const orders = {
  "-created_at": { column: sql`created_at`, isRising: false, isOptional: false },
  created_at: { column: sql`created_at`, isRising: true, isOptional: false },
  email: { column: sql`email`, isRising: true, isOptional: false },
  "-email": { column: sql`email`, isRising: false, isOptional: false },
  "-last_opened_at": { column: sql`last_opened_at`, isRising: false, isOptional: true },
  "-last_clicked_at": { column: sql`last_clicked_at`, isRising: false, isOptional: true },
} as const satisfies Record<PersonOrder, object>;

/** A person of a page: the id, and the value by which the page is sorted, as text; empty for none. */
export interface SortedId {
  readonly id: string;
  readonly key: string;
}

/** People of a selection are counted up to here: counting a third of a million takes a second. */
export const MOST_COUNTED = 10_000;

/** Counts the people of the selection up to MOST_COUNTED; of a search up to MOST_FOUND. */
export async function countSelected(
  db: Queryable,
  workspaceId: WorkspaceId,
  selection: PeopleSelection,
): Promise<PeopleTotal> {
  const { search } = selection;
  if (search !== undefined) {
    const found = await db.row<{ total: number }>(
      sql`select count(*)::int as total from ${foundIds(workspaceId, selection, search)} f`,
    );
    return searchTotal(found?.total ?? 0);
  }
  const row = await db.row<{ total: number }>(sql`
    select count(*)::int as total from (select ${fromPeople(workspaceId, selection)} limit ${MOST_COUNTED + 1}) p`);
  const total = row?.total ?? 0;
  return { total: Math.min(total, MOST_COUNTED), isExact: total <= MOST_COUNTED };
}

function foundIds(workspaceId: WorkspaceId, selection: PeopleSelection, search: string): Sql {
  const branches = searchConditions(search).map(
    (condition) => sql`(select s.id ${fromPeople(workspaceId, selection, condition)} limit ${MOST_FOUND})`,
  );
  return sql`(select id from (${join(branches, " union ")}) f limit ${MOST_FOUND})`;
}

/**
 * The ids of a page, in order; people without the value come last. A cursor enters the index at its row. Then people
 * without a value are a second range of the index, read only if the first does not fill the page.
 */
export function listSelected(
  db: Queryable,
  workspaceId: WorkspaceId,
  selection: PeopleSelection,
  order: PersonOrder,
  page: Page,
): Promise<SortedId[]> {
  const { after, afterKey = "", limit, offset } = page;
  const { column, isRising, isOptional } = orders[order];
  const isEmail = order === "email" || order === "-email";
  const directions = [isRising ? "asc" : "desc", isOptional ? "nulls last" : ""].join(" ");
  const sorted = (rows: Sql) =>
    sql`order by ${rows}${column} ${raw(directions)}, ${rows}id ${raw(isRising ? "asc" : "desc")}`;
  const people = (...also: readonly Sql[]) => sql`
    (select s.id, s.${column} ${peopleSql(workspaceId, selection, also)} ${sorted(sql`s.`)}
      limit ${limit} offset ${offset})`;
  const than = raw(isRising ? ">" : "<");
  const isBehind = sql`(s.${column}, s.id) ${than} (${afterKey}::${raw(isEmail ? "text" : "timestamptz")}, ${after}::uuid)`;
  const isNone = sql`s.${column} is null`;
  const ranges =
    after === undefined
      ? [people()]
      : afterKey === ""
        ? [people(isNone, sql`s.id ${than} ${after}`)]
        : [people(isBehind), ...(isOptional ? [people(isNone)] : [])];
  // Microseconds, as PostgreSQL compares them.
  const key = isEmail ? column : sql`to_char(${column} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`;
  return db.rows(sql`
    select id, coalesce(${key}, '') as key from (${join(ranges, " union all ")}) p
    ${sorted(empty)} limit ${limit}`);
}

function peopleSql(workspaceId: WorkspaceId, selection: PeopleSelection, also: readonly Sql[]): Sql {
  const { search } = selection;
  if (search === undefined) return fromPeople(workspaceId, selection, ...also);
  // As an array they are found once, before people are read by id; in a join the planner may search for each person.
  const isFound = sql`s.id = any (array(select id from ${foundIds(workspaceId, selection, search)} f))`;
  return sql`from subscribers s where ${join([sql`s.workspace_id = ${workspaceId}`, isFound, ...also], " and ")}`;
}

/**
 * A deep page of all people by address: the positions are counted in the index of addresses alone, which does not have
 * the ids.
 */
export function listByEmail(
  db: Queryable,
  workspaceId: WorkspaceId,
  order: "email" | "-email",
  { limit, offset }: Page,
): Promise<SortedId[]> {
  const direction = raw(orders[order].isRising ? "asc" : "desc");
  return db.rows(sql`
    select s.id, p.email as key
    from (select email from subscribers where workspace_id = ${workspaceId}
      order by workspace_id ${direction}, email ${direction} limit ${limit} offset ${offset}) p
    join subscribers s on s.workspace_id = ${workspaceId} and s.email = p.email order by p.email ${direction}`);
}

/**
 * People by joined, opened, clicked and a custom field, sorted by one of several columns. Each condition and each order
 * has its own index (db/migrations/0008-audience.sql; subscribers_by_custom_fields for the field). The indexes of the last
 * open and click are on subscriber_stats. They are used if few people meet a condition on such a time, or to sort many: the
 * planner knows too little to decide that in a join.
 */
import sql, { empty, join, raw, type Sql } from "sql-template-tag";
import type { Page } from "#platform/database/page.ts";
import type { Queryable } from "#platform/database/pool.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import type { SubscriberFilter } from "./page-store.ts";
import { isUnfiltered, type PersonFilter, type PersonOrder } from "./person-filter.ts";
import { MOST_FOUND, type PeopleTotal, searchedPeople, searchTotal } from "./search-conditions.ts";

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
    // Both columns of the index on custom fields.
    ...(filter.fieldParts === null ? [] : [isInIndexOf(workspaceId)]),
    ...filterConditions(filter, joined),
  ];
}

/** The condition on the first column of the index on custom fields. */
const isInIndexOf = (workspaceId: WorkspaceId) => sql`array[s.workspace_id] @> array[${workspaceId}::uuid]`;

/** Conditions of the filter on the rows `s` of subscribers. @param joined the column with the time of joining */
export function filterConditions(filter: PersonFilter, joined: Sql): Sql[] {
  const { joinedFrom, joinedTo, fieldParts } = filter;
  return [
    ...(joinedFrom === null ? [] : [sql`${joined} >= ${joinedFrom}`]),
    ...(joinedTo === null ? [] : [sql`${joined} < ${joinedTo}`]),
    ...timeConditions(filter, sql`s`),
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

/** Conditions on the last open and click, on a row of `subscribers` or subscriber_stats. */
function timeConditions(filter: PersonFilter, row: Sql): Sql[] {
  const { openedSince, clickedSince } = filter;
  return [
    ...(openedSince === null ? [] : [sql`${row}.last_opened_at >= ${openedSince}`]),
    ...(filter.neverOpened ? [sql`${row}.last_opened_at is null`] : []),
    ...(clickedSince === null ? [] : [sql`${row}.last_clicked_at >= ${clickedSince}`]),
    ...(filter.neverClicked ? [sql`${row}.last_clicked_at is null`] : []),
  ];
}

/** A select in brackets of the ids of the people who meet the conditions on the last open and click. */
function idsByTimes(workspaceId: WorkspaceId, filter: PersonFilter): Sql {
  const conditions = [sql`t.workspace_id = ${workspaceId}`, ...timeConditions(filter, sql`t`)];
  return sql`(select t.subscriber_id from subscriber_stats t where ${join(conditions, " and ")})`;
}

/**
 * The condition that finds people by the index of the last open or click, if the filter asks for those since a time and few
 * people of the workspace meet them; otherwise undefined.
 */
export async function findByTimes(
  db: Queryable,
  workspaceId: WorkspaceId,
  filter: PersonFilter,
): Promise<Sql | undefined> {
  if (filter.openedSince === null && filter.clickedSince === null) return undefined;
  const ids = idsByTimes(workspaceId, filter);
  const row = await db.row<{ few: boolean }>(sql`
    select count(*) <= ${MOST_COUNTED} as few from (select from ${ids} t limit ${MOST_COUNTED + 1}) p`);
  return row?.few === true ? sql`s.id = any (array${ids})` : undefined;
}

/** `from` and `where` of the selection without its search. @param people a relation `s` of people */
function fromPeople(
  workspaceId: WorkspaceId,
  selection: PeopleSelection,
  also: readonly Sql[] = [],
  people = sql`subscribers s`,
): Sql {
  const { mailingListId } = selection;
  const member =
    mailingListId === null
      ? empty
      : sql`join memberships m on m.workspace_id = ${workspaceId} and m.mailing_list_id = ${mailingListId}
          and m.subscriber_id = s.id`;
  return sql`from ${people} ${member} where ${join([...conditionsOf(workspaceId, selection), ...also], " and ")}`;
}

/** Limits the time of each later statement of the transaction. */
export async function limitStatements(tx: Queryable, mostMs: number): Promise<void> {
  await tx.run(sql`select set_config('statement_timeout', ${String(mostMs)}, true)`);
}

/** A select in brackets of the ids of all people of the selection; of a search without its limit. */
export function selectedIdsSql(workspaceId: WorkspaceId, selection: PeopleSelection): Sql {
  const { search } = selection;
  if (search === undefined) return sql`(select s.id ${fromPeople(workspaceId, selection)})`;
  const branches = searchedPeople(workspaceId, search).map(
    (people) => sql`select s.id ${fromPeople(workspaceId, selection, [], people)}`,
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

/**
 * Among so many people of a workspace their index finds those with any value of a custom field fastest. In a workspace of a
 * million that is true of rare values only: the planner decides.
 */
const MOST_BY_FIELD = 250_000;

/** Whether the selection is a custom field and nothing else. */
const isFieldAlone = ({ mailingListId, status, search, filter }: PeopleSelection) =>
  filter.fieldParts !== null &&
  mailingListId === null &&
  status === undefined &&
  search === undefined &&
  isUnfiltered({ ...filter, fieldParts: null });

/**
 * `from` and `where` of the people with a custom field, found by its index alone (`offset 0`). The planner does not know that
 * the two conditions on the workspace mean the same, and would also read the workspace's part of another index.
 */
export function fromPeopleByField(workspaceId: WorkspaceId, filter: PersonFilter): Sql {
  const conditions = [isInIndexOf(workspaceId), ...filterConditions(filter, sql`s.created_at`)];
  return sql`
    from (select s.workspace_id from subscribers s where ${join(conditions, " and ")} offset 0) s
    where s.workspace_id = ${workspaceId}`;
}

/** People of a selection are counted up to here: counting a third of a million takes a second. */
export const MOST_COUNTED = 10_000;

/**
 * Counts the people of the selection up to MOST_COUNTED; of a search up to MOST_FOUND.
 * @param allPeople the number of people of the workspace or, of a selection with a list, of the list
 * @param byTimes as findByTimes answers
 */
export async function countSelected(
  db: Queryable,
  workspaceId: WorkspaceId,
  selection: PeopleSelection,
  allPeople: number,
  byTimes?: Sql,
): Promise<PeopleTotal> {
  const { search } = selection;
  if (search !== undefined) {
    const found = await db.row<{ total: number }>(
      sql`select count(*)::int as total from ${foundIds(workspaceId, selection, search)} f`,
    );
    return searchTotal(found?.total ?? 0);
  }
  const people =
    isFieldAlone(selection) && allPeople <= MOST_BY_FIELD
      ? fromPeopleByField(workspaceId, selection.filter)
      : fromPeople(workspaceId, selection, only(byTimes));
  const row = await db.row<{ total: number }>(sql`
    select count(*)::int as total from (select ${people} limit ${MOST_COUNTED + 1}) p`);
  const total = row?.total ?? 0;
  return { total: Math.min(total, MOST_COUNTED), isExact: total <= MOST_COUNTED };
}

const only = (condition: Sql | undefined): Sql[] => (condition === undefined ? [] : [condition]);

function foundIds(workspaceId: WorkspaceId, selection: PeopleSelection, search: string): Sql {
  const branches = searchedPeople(workspaceId, search).map(
    (people) => sql`(select s.id ${fromPeople(workspaceId, selection, [], people)} limit ${MOST_FOUND})`,
  );
  return sql`(select id from (${join(branches, " union ")}) f limit ${MOST_FOUND})`;
}

/** How the people of a page are found, besides their order. */
export interface PageAccess {
  /** As findByTimes answers. */
  readonly byTimes: Sql | undefined;
  /** Whether the selection has more people than are counted: a page of them is read from the index of its order. */
  readonly areMany: boolean;
}

/**
 * The ids of a page, in order; people without the value come last. A cursor enters the index at its row. People without
 * a value are a range of their own, read only if the first does not fill the page.
 */
export function listSelected(
  db: Queryable,
  workspaceId: WorkspaceId,
  selection: PeopleSelection,
  order: PersonOrder,
  page: Page,
  { byTimes, areMany }: PageAccess,
): Promise<SortedId[]> {
  const { after, afterKey = "", limit, offset } = page;
  const { column, isRising, isOptional } = orders[order];
  const isEmail = order === "email" || order === "-email";
  const direction = raw(isRising ? "asc" : "desc");
  const than = raw(isRising ? ">" : "<");
  // Of the optional columns subscriber_stats has the index.
  const isWalk = isOptional && areMany && selection.search === undefined;
  const [value, id] = isWalk ? [sql`t.${column}`, sql`t.subscriber_id`] : [sql`s.${column}`, sql`s.id`];
  const afterId = sql`s.id ${than} ${after}`;
  const isBehind = sql`(${value}, ${id}) ${than} (${afterKey}::${raw(isEmail ? "text" : "timestamptz")}, ${after}::uuid)`;
  const withValue = (also: readonly Sql[]) => {
    const has = isOptional ? [sql`${value} is not null`, ...also] : also;
    const from = isWalk
      ? walkSql(workspaceId, selection, has)
      : peopleSql(workspaceId, selection, [...only(byTimes), ...has]);
    return sql`(select ${id} as id, ${value} ${from} order by ${value} ${direction}, ${id} ${direction}
      limit ${limit + offset})`;
  };
  const withoutValue = (also: readonly Sql[]) => sql`
    (select s.id, s.${column}
      ${peopleSql(workspaceId, selection, [...only(byTimes), sql`s.${column} is null`, ...also])}
      order by s.id ${direction} limit ${limit + offset})`;
  const isShort = sql`(select count(*) from valued) < ${limit + offset}`;
  const isAmongThem = after !== undefined && afterKey === "";
  const valued = withValue(after === undefined ? [] : [isBehind]);
  const ranges = isAmongThem
    ? withoutValue([afterId])
    : sql`select * from valued ${isOptional ? sql`union all ${withoutValue([isShort])}` : empty}`;
  // Microseconds, as PostgreSQL compares them.
  const key = isEmail ? column : sql`to_char(${column} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`;
  return db.rows(sql`
    ${isAmongThem ? empty : sql`with valued as materialized ${valued}`}
    select id, coalesce(${key}, '') as key from (${ranges}) p
    order by ${column} ${direction} nulls last, id ${direction} limit ${limit} offset ${offset}`);
}

/** The selection from the rows `t` of subscriber_stats, each with a look-up of its person. */
function walkSql(workspaceId: WorkspaceId, selection: PeopleSelection, also: readonly Sql[]): Sql {
  const isTheirs = sql`s.id = t.subscriber_id`;
  return sql`
    from subscriber_stats t cross join lateral (select ${fromPeople(workspaceId, selection, [isTheirs])} offset 0) s
    where ${join([sql`t.workspace_id = ${workspaceId}`, ...also], " and ")}`;
}

function peopleSql(workspaceId: WorkspaceId, selection: PeopleSelection, also: readonly Sql[]): Sql {
  const { search } = selection;
  if (search === undefined) return fromPeople(workspaceId, selection, also);
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

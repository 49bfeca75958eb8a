/**
 * The members of a segment as a relation: the only file that turns conditions into SQL statements. The preview, the
 * members of a segment, the segments of a subscriber and the audience of a campaign all use it, so that they agree.
 */
import sql, { empty, join, raw, type Sql } from "sql-template-tag";
import type { SubscriberStatus } from "#audience/subscribers/memberships/status.ts";
import { createWorkspaceLimiter, QUERY_BOUNDS } from "#platform/concurrency.ts";
import type { Page } from "#platform/database/page.ts";
import type { Database, Queryable } from "#platform/database/pool.ts";
import { ApiError } from "#platform/errors.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import {
  doesRead,
  predicateOf,
  type RuleGroup,
  type Segmentation,
  statusesOf,
} from "./conditions/bound-rule.ts";
import { and, type Predicate } from "./conditions/combine-predicates.ts";
import { isActiveOn } from "./conditions/reference-kinds.ts";

/**
 * A select in brackets with the column id of subscribers, each once.
 *
 * Each status has its own statement. Rules on the status are decided beforehand: most statements fall away, and the
 * usual one, for active members, does not read memberships.
 * @param also one more condition on the row `s` of subscribers
 */
export function membersRelation(workspaceId: WorkspaceId, segment: Segmentation, also?: Sql): Sql {
  const branches = statusesOf(segment).flatMap((status) =>
    membersOfStatus(workspaceId, segment, status, also),
  );
  return branches.length === 0
    ? sql`(select null::uuid as id where false)`
    : sql`(${join(branches, " union all ")})`;
}

function membersOfStatus(
  workspaceId: WorkspaceId,
  { mailingListId, isSparse, conditions }: Segmentation,
  status: SubscriberStatus,
  also: Sql | undefined,
): Sql[] {
  const membership = raw("m");
  const met = predicateOf(conditions, { workspaceId, mailingListId, status, membership, depth: 0 });
  if (met === false) return [];
  const wanted: Predicate[] = [met, also ?? true];
  const isOnList = sql`m.workspace_id = ${workspaceId} and m.mailing_list_id = ${mailingListId}
    and m.status = ${status}`;
  if (also === undefined && (met === true || !doesRead(conditions, "person"))) {
    return [sql`select m.subscriber_id as id from memberships m where ${all([isOnList, ...wanted])}`];
  }
  const people = peopleSql(conditions);
  if (also === undefined && isSparse) {
    // A join could be reordered. Behind `offset 0` the planner looks up by key, whatever its statistics say.
    const isTheirs = sql`s.workspace_id = m.workspace_id and s.id = m.subscriber_id`;
    return [
      sql`select m.subscriber_id as id from memberships m
        cross join lateral (select from ${people} where ${all([isTheirs, ...wanted])} offset 0) s
        where ${isOnList}`,
    ];
  }
  if (status === "active" && !doesRead(conditions, "membership")) {
    const isActive = sql`s.workspace_id = ${workspaceId} and ${isActiveOn(mailingListId)}`;
    return [sql`select s.id from ${people} where ${all([isActive, ...wanted])}`];
  }
  return [
    sql`select s.id from memberships m
      join ${people} on s.workspace_id = ${workspaceId} and s.id = m.subscriber_id
      where ${all([isOnList, ...wanted])}`,
  ];
}

/** The rows `s` of people, with their rows `t` of subscriber_stats if the conditions read these. @param people the rows `s` */
export function peopleSql(conditions: RuleGroup, people = sql`subscribers s`): Sql {
  return doesRead(conditions, "stats")
    ? sql`(${people} join subscriber_stats t on t.workspace_id = s.workspace_id and t.subscriber_id = s.id)`
    : people;
}

function all(parts: readonly Predicate[]): Sql {
  const combined = and(parts);
  return typeof combined === "boolean" ? sql`${combined}::boolean` : combined;
}

/** PostgreSQL binds at most 65,535 values. */
const MOST_VALUES = 60_000;
const QUERY_CANCELED = "57014";

/** Leaves the other connections of the pool to other work. */
const takeTurn = createWorkspaceLimiter(
  QUERY_BOUNDS,
  "Too many segment queries of this workspace are waiting: run fewer at the same time",
);

/**
 * The planner's cost of an index entry, ten times the default. With the default, the index on custom fields looked
 * cheaper than a table scan for a choice of a third of a million people, but took 168 ms instead of 134: one process
 * builds the bitmap, and each row is fetched alone. They are even at about an eighth.
 */
const ENTRY_COST = "0.05";

/**
 * Runs work that evaluates conditions, which callers can make arbitrarily expensive: within the concurrency limit of
 * the workspace, and with a time limit for each statement.
 * @throws ApiError BAD_REQUEST when a statement takes longer, RATE_LIMIT_EXCEEDED when too many calls wait
 */
export function withDeadline<Result>(
  db: Database,
  workspaceId: WorkspaceId,
  mostMs: number,
  work: (tx: Queryable) => Promise<Result>,
): Promise<Result> {
  return takeTurn(workspaceId, () => withTimeLimit(db, mostMs, work));
}

/**
 * As withDeadline, for work without a caller's conditions: it has no concurrency limit.
 * @throws ApiError BAD_REQUEST
 */
export async function withTimeLimit<Result>(
  db: Database,
  mostMs: number,
  work: (tx: Queryable) => Promise<Result>,
): Promise<Result> {
  try {
    return await db.transaction(async (tx) => {
      await tx.run(sql`
        select set_config('statement_timeout', ${String(mostMs)}, true),
          set_config('cpu_index_tuple_cost', ${ENTRY_COST}, true)`);
      return work(tx);
    });
  } catch (fault) {
    if (fault instanceof Error && "code" in fault && fault.code === QUERY_CANCELED) throw tooCostly();
    throw fault;
  }
}

function tooCostly(): ApiError {
  return new ApiError(
    "BAD_REQUEST",
    "These conditions take too long on so many subscribers: use fewer conditions, or shorter lists of values",
  );
}

/** @throws ApiError BAD_REQUEST for more values than a statement can have */
export function bounded(statement: Sql): Sql {
  if (statement.values.length > MOST_VALUES) throw tooCostly();
  return statement;
}

export async function countMembersIn(db: Queryable, relation: Sql): Promise<number> {
  const row = await db.row<{ count: number }>(bounded(sql`select count(*)::int as count from ${relation} a`));
  return row?.count ?? 0;
}

/** For each of several relations, whether it has any member. */
export async function findWhichHaveMembers(db: Queryable, relations: readonly Sql[]): Promise<boolean[]> {
  if (relations.length === 0) return [];
  const answers = relations.map((relation) => sql`exists (select from ${relation} a)`);
  const row = await db.row<{ answers: boolean[] }>(
    bounded(sql`select array[${join(answers, ", ")}] as answers`),
  );
  return row?.answers ?? [];
}

/** One page of the people in any of the relations, with their number; at most `most` are counted. */
export async function findPageIn(
  db: Queryable,
  relations: readonly Sql[],
  most: number | null,
  page: Page,
): Promise<{ ids: string[]; total: number }> {
  const branches = relations.map((relation) => sql`(select id from ${relation} a limit ${most})`);
  const found = await db.row<{ ids: string[]; total: number }>(
    bounded(sql`
      with found as materialized (select id from (${join(branches, " union ")}) f limit ${most})
      select (select count(*)::int from found) as total,
        array(select id from found ${page.after === undefined ? empty : sql`where id < ${page.after}`}
          order by id desc limit ${page.limit} offset ${page.offset}) as ids`),
  );
  return found ?? { ids: [], total: 0 };
}

/** A part of a relation, newest person first: `skip` rows after the row `from`, or after the first. */
export async function listIdsIn(
  db: Queryable,
  relation: Sql,
  { from, skip, limit }: { readonly from: string | null; readonly skip: number; readonly limit: number },
): Promise<string[]> {
  const rows = await db.rows<{ id: string }>(
    bounded(sql`
      select id from ${relation} a ${from === null ? empty : sql`where id <= ${from}`}
      order by id desc limit ${limit} offset ${skip}`),
  );
  return rows.map((row) => row.id);
}

/** Every `stride`-th id, starting with the first. */
export async function listEveryId(db: Queryable, relation: Sql, stride: number): Promise<string[]> {
  const rows = await db.rows<{ id: string }>(
    bounded(sql`
      select id from (select id, row_number() over (order by id desc) as place from ${relation} a) p
      where (place - 1) % ${stride} = 0 order by place`),
  );
  return rows.map((row) => row.id);
}

/** A number that increases with every change of members of any list of the workspace. */
export async function findRevision(db: Queryable, workspaceId: WorkspaceId): Promise<number> {
  const row = await db.row<{ revision: number }>(sql`
    select coalesce(sum(revision), 0)::bigint as revision from list_counters where workspace_id = ${workspaceId}`);
  return row?.revision ?? 0;
}

/**
 * The counters of lists and of the workspace, moved in the transaction that moves the memberships, so that they are at
 * every commit what a count would give. One statement moves them all, at the end of a transaction and once: rows are
 * locked in one order by everybody (days, the workspace, lists), and for as short as can be.
 */
import sql, { type Sql } from "sql-template-tag";
import type { Queryable } from "#platform/database/pool.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import { type StatusCounts, type SubscriberStatus, subscriberStatuses } from "./status.ts";

/** What one list gained (or lost) in each status, and what its day saw. */
export interface ListTally extends StatusCounts {
  readonly mailing_list_id: string;
  /** Memberships that are new, gone, or of another status. */
  readonly changed: number;
  readonly became_active: number;
  readonly left_by_unsubscribing: number;
  readonly left_by_bounce: number;
  readonly left_by_complaint: number;
}

/** What the workspace's people gained (or lost) in each status. */
export interface PeopleTally extends StatusCounts {
  /** People who are new, gone, or of another status. */
  readonly changed: number;
}

/**
 * A statement's end: the tally of each list from a relation with the columns mailing_list_id, old_status (null: was no
 * member) and new_status (null: is none any more), a row for each membership that changed.
 */
export const tallyByListSql = (moved: Sql): Sql => sql`
  select mailing_list_id, ${statusChanges}, count(*)::int as changed,
    count(*) filter (where new_status = 'active')::int as became_active,
    count(*) filter (where old_status = 'active' and new_status = 'unsubscribed')::int as left_by_unsubscribing,
    count(*) filter (where old_status = 'active' and new_status = 'bounced')::int as left_by_bounce,
    count(*) filter (where old_status = 'active' and new_status = 'complained')::int as left_by_complaint
  from ${moved} group by mailing_list_id`;

/** The same of people: from a relation with the columns old_status and new_status. */
export const tallyPeopleSql = (moved: Sql): Sql => sql`
  select ${statusChanges}, count(*)::int as changed from ${moved}`;

const statusChanges = sql`
  (count(*) filter (where new_status = 'active') - count(*) filter (where old_status = 'active'))::int as active,
  (count(*) filter (where new_status = 'unsubscribed') - count(*) filter (where old_status = 'unsubscribed'))::int as unsubscribed,
  (count(*) filter (where new_status = 'bounced') - count(*) filter (where old_status = 'bounced'))::int as bounced,
  (count(*) filter (where new_status = 'complained') - count(*) filter (where old_status = 'complained'))::int as complained`;

/** Runs a statement that ends in a peopleTally, which always has its one row. */
export async function runPeopleTally<Tally extends PeopleTally>(
  tx: Queryable,
  statement: Sql,
): Promise<Tally> {
  const [tally] = await tx.rows<Tally>(statement);
  if (tally === undefined) throw new Error("a tally without a row");
  return tally;
}

/** Adds the tallies of several statements to the counters; the day is that of `now` in the workspace's time zone. */
export async function moveCounters(
  tx: Queryable,
  workspaceId: WorkspaceId,
  tallies: { readonly lists: readonly ListTally[]; readonly people: readonly PeopleTally[] },
  now: Date,
): Promise<void> {
  const { lists } = tallies;
  const changedPeople = sumOf(tallies.people, "changed");
  if (lists.length === 0 && changedPeople === 0) return;
  const column = (name: keyof Omit<ListTally, "mailing_list_id">) =>
    sql`${lists.map((list) => list[name])}::int[]`;
  const people = (status: SubscriberStatus) => sql`${sumOf(tallies.people, status)}::int`;
  await tx.run(sql`
    with tally as (
      select mailing_list_id, sum(active) as active, sum(unsubscribed) as unsubscribed, sum(bounced) as bounced,
        sum(complained) as complained, sum(became_active) as became_active,
        sum(left_by_unsubscribing) as left_by_unsubscribing, sum(left_by_bounce) as left_by_bounce,
        sum(left_by_complaint) as left_by_complaint
      from unnest(${lists.map((list) => list.mailing_list_id)}::uuid[], ${column("active")},
        ${column("unsubscribed")}, ${column("bounced")}, ${column("complained")}, ${column("became_active")},
        ${column("left_by_unsubscribing")}, ${column("left_by_bounce")}, ${column("left_by_complaint")})
        as t (mailing_list_id, active, unsubscribed, bounced, complained, became_active, left_by_unsubscribing,
          left_by_bounce, left_by_complaint)
      group by mailing_list_id
    ), days as (
      insert into list_days as d (workspace_id, mailing_list_id, day, subscribed, unsubscribed, bounced, complained)
      select ${workspaceId}, mailing_list_id,
        (${now}::timestamptz at time zone (select timezone from workspaces where id = ${workspaceId}))::date,
        became_active, left_by_unsubscribing, left_by_bounce, left_by_complaint
      from tally
      where became_active + left_by_unsubscribing + left_by_bounce + left_by_complaint > 0
      order by mailing_list_id
      on conflict (workspace_id, mailing_list_id, day) do update
      set subscribed = d.subscribed + excluded.subscribed, unsubscribed = d.unsubscribed + excluded.unsubscribed,
        bounced = d.bounced + excluded.bounced, complained = d.complained + excluded.complained
      returning day
    ), people as (
      insert into subscriber_counters as c (workspace_id, active, unsubscribed, bounced, complained)
      select ${workspaceId}, ${people("active")}, ${people("unsubscribed")}, ${people("bounced")},
        ${people("complained")}
      from (select count(*) from days) d
      where ${changedPeople}::int > 0
      on conflict (workspace_id) do update set ${added}
      returning workspace_id
    )
    insert into list_counters as c (workspace_id, mailing_list_id, active, unsubscribed, bounced, complained)
    select ${workspaceId}, mailing_list_id, active, unsubscribed, bounced, complained
    from tally, (select count(*) from days) d, (select count(*) from people) p
    order by mailing_list_id
    on conflict (workspace_id, mailing_list_id) do update set ${added}`);
}

const added = sql`active = c.active + excluded.active, unsubscribed = c.unsubscribed + excluded.unsubscribed,
  bounced = c.bounced + excluded.bounced, complained = c.complained + excluded.complained,
  revision = c.revision + 1`;

function sumOf<Key extends string>(tallies: readonly Readonly<Record<Key, number>>[], key: Key): number {
  return tallies.reduce((sum, tally) => sum + tally[key], 0);
}

/** Forgets a list that has no members any more. */
export async function removeListCounters(
  tx: Queryable,
  workspaceId: WorkspaceId,
  mailingListId: string,
): Promise<void> {
  await tx.run(sql`
    with days as (delete from list_days where workspace_id = ${workspaceId} and mailing_list_id = ${mailingListId})
    delete from list_counters where workspace_id = ${workspaceId} and mailing_list_id = ${mailingListId}`);
}

/** People in each status, and the revision that rises with every change of them. */
export type Counted = StatusCounts & { readonly revision: number };

const counted = sql`active, unsubscribed, bounced, complained, revision`;
const nobody: Counted = { active: 0, unsubscribed: 0, bounced: 0, complained: 0, revision: 0 };

/** Members of a list. */
export async function countMembers(
  db: Queryable,
  workspaceId: WorkspaceId,
  mailingListId: string,
): Promise<Counted> {
  const row = await db.row<Counted>(sql`
    select ${counted} from list_counters
    where workspace_id = ${workspaceId} and mailing_list_id = ${mailingListId}`);
  return row ?? nobody;
}

/** People of the workspace, each once. */
export async function countPeople(db: Queryable, workspaceId: WorkspaceId): Promise<Counted> {
  const row = await db.row<Counted>(sql`
    select ${counted} from subscriber_counters where workspace_id = ${workspaceId}`);
  return row ?? nobody;
}

/** Of one status, or of all. */
export function totalInStatus(counts: StatusCounts, status: SubscriberStatus | undefined): number {
  if (status !== undefined) return counts[status];
  return subscriberStatuses.reduce((sum, each) => sum + counts[each], 0);
}

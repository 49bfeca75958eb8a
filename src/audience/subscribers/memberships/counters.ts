/**
 * The counters of members per list and of subscribers per workspace. They are updated in the transaction that changes the
 * memberships, so that at every commit they equal a count of the rows. One statement at the end of the transaction updates
 * them all, which keeps their locks short; all transactions lock in the same order (days, workspace, lists).
 */
import sql, { type Sql } from "sql-template-tag";
import type { Queryable } from "#platform/database/pool.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import { type StatusCounts, type SubscriberStatus, subscriberStatuses } from "./status.ts";

/** Changes of one list: members in each status (negative: fewer), and the events of its day. */
export interface ListTally extends StatusCounts {
  readonly mailing_list_id: string;
  /** Memberships that were added, removed, or changed their status. */
  readonly changed: number;
  readonly became_active: number;
  readonly left_by_unsubscribing: number;
  readonly left_by_bounce: number;
  readonly left_by_complaint: number;
}

/** Changes of the number of subscribers of the workspace in each status. */
export interface PeopleTally extends StatusCounts {
  /** People who were added, deleted, or changed their status. */
  readonly changed: number;
}

/**
 * A select of a ListTally for each list, to end a statement with.
 * @param moved a relation with a row for each changed membership: mailing_list_id, old_status (null: was not a member) and
 * new_status (null: is no longer a member)
 */
export const tallyByListSql = (moved: Sql): Sql => sql`
  select mailing_list_id, ${statusChanges}, count(*)::int as changed,
    count(*) filter (where new_status = 'active')::int as became_active,
    count(*) filter (where old_status = 'active' and new_status = 'unsubscribed')::int as left_by_unsubscribing,
    count(*) filter (where old_status = 'active' and new_status = 'bounced')::int as left_by_bounce,
    count(*) filter (where old_status = 'active' and new_status = 'complained')::int as left_by_complaint
  from ${moved} group by mailing_list_id`;

/** A select of one PeopleTally. @param moved a relation with a row for each changed person: old_status and new_status */
export const tallyPeopleSql = (moved: Sql): Sql => sql`
  select ${statusChanges}, count(*)::int as changed from ${moved}`;

const statusChanges = sql`
  (count(*) filter (where new_status = 'active') - count(*) filter (where old_status = 'active'))::int as active,
  (count(*) filter (where new_status = 'unsubscribed') - count(*) filter (where old_status = 'unsubscribed'))::int as unsubscribed,
  (count(*) filter (where new_status = 'bounced') - count(*) filter (where old_status = 'bounced'))::int as bounced,
  (count(*) filter (where new_status = 'complained') - count(*) filter (where old_status = 'complained'))::int as complained`;

/** Runs a statement that ends with tallyPeopleSql and therefore returns one row. */
export async function runPeopleTally<Tally extends PeopleTally>(
  tx: Queryable,
  statement: Sql,
): Promise<Tally> {
  const [tally] = await tx.rows<Tally>(statement);
  if (tally === undefined) throw new Error("a tally without a row");
  return tally;
}

/** Adds the tallies of several statements to the counters. The day is the day of `now` in the workspace's time zone. */
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

/** Deletes the counters and days of a list that has no members. */
export async function removeListCounters(
  tx: Queryable,
  workspaceId: WorkspaceId,
  mailingListId: string,
): Promise<void> {
  await tx.run(sql`
    with days as (delete from list_days where workspace_id = ${workspaceId} and mailing_list_id = ${mailingListId})
    delete from list_counters where workspace_id = ${workspaceId} and mailing_list_id = ${mailingListId}`);
}

/** People in each status, and a revision that increases with every change. */
export type Counted = StatusCounts & { readonly revision: number };

const counted = sql`active, unsubscribed, bounced, complained, revision`;
const noMembers: Counted = { active: 0, unsubscribed: 0, bounced: 0, complained: 0, revision: 0 };

/** Counts the members of a list by status. */
export async function countMembers(
  db: Queryable,
  workspaceId: WorkspaceId,
  mailingListId: string,
): Promise<Counted> {
  const row = await db.row<Counted>(sql`
    select ${counted} from list_counters
    where workspace_id = ${workspaceId} and mailing_list_id = ${mailingListId}`);
  return row ?? noMembers;
}

/** Counts the subscribers of the workspace by status, each person once. */
export async function countPeople(db: Queryable, workspaceId: WorkspaceId): Promise<Counted> {
  const row = await db.row<Counted>(sql`
    select ${counted} from subscriber_counters where workspace_id = ${workspaceId}`);
  return row ?? noMembers;
}

/** The count of one status, or of all statuses. */
export function totalInStatus(counts: StatusCounts, status: SubscriberStatus | undefined): number {
  if (status !== undefined) return counts[status];
  return subscriberStatuses.reduce((sum, each) => sum + counts[each], 0);
}

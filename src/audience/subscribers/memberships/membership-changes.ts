/**
 * Changes and removes memberships (add-members.ts adds them). The statements are set-based: the same ones serve one person
 * and ten thousand. All that depends on a membership is updated in the same transaction: the status and active lists of
 * the person, the counters of the list and of the workspace.
 *
 * All transactions lock in one order, which prevents deadlocks: the list (lockMailingList in mailing-lists/store.ts), the
 * people in the order of their addresses (when people are added, new ones before known ones), their figures
 * (subscriber_stats) in the order of their ids, memberships, and counters once at the end (counters.ts). A transaction that
 * has locked a person may change all memberships of that person.
 *
 * Statements start from the given people and reach the tables row by row through an index (the laterals), and write the
 * rows that they read by ctid, which is stable because the rows are locked. For a new workspace the statistics are
 * missing: with plain joins the planner would start at the table, expecting one row, and scan all given people for each
 * of a million rows.
 */
import sql, { empty, type Sql } from "sql-template-tag";
import type { Queryable } from "#platform/database/pool.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import {
  type ListTally,
  moveCounters,
  type PeopleTally,
  runPeopleTally,
  tallyByListSql,
  tallyPeopleSql,
} from "./counters.ts";
import { withWorkspace } from "./planner-hints.ts";
import { noteRemovedSql } from "./removed-people-store.ts";
import { personWideStatuses } from "./status.ts";

/** The rank of a status from best (1, active) to worst (4, complained). */
export const badness = (status: Sql) =>
  sql`array_position(array['active', 'unsubscribed', 'bounced', 'complained'], ${status})`;

/**
 * How a member becomes active again. `rejoin`: as if they joined now. `rejoin_quietly`: the same, but no autoresponder
 * starts. `restore`: as if they had never left, with their old subscription date.
 */
export type Reactivation = "rejoin" | "rejoin_quietly" | "restore";

/**
 * Sets statuses of members in the caller's transaction.
 * @param moves a select of mailing_list_id, subscriber_id and status. People who are not on the list are ignored. `bounced`
 * and `complained` belong to the person and are set on all their lists; mailing_list_id may be null for them.
 * @returns how many memberships changed their status
 */
export async function updateStatuses(
  tx: Queryable,
  workspaceId: WorkspaceId,
  moves: Sql,
  now: Date,
  reactivation: Reactivation = "rejoin",
): Promise<number> {
  // People who join after this point are not locked, so they are left out even if `moves` finds them later.
  const locked = await lockPeople(tx, workspaceId, sql`select subscriber_id from (${moves}) v`);
  const people = sql`select unnest(${locked}::uuid[])`;
  const movesOfLocked = sql`select v.* from (${moves}) v where v.subscriber_id in (${people})`;
  const lists = await moveStatuses(tx, workspaceId, movesOfLocked, now, reactivation);
  const tally = await refreshPeople(tx, workspaceId, people);
  await moveCounters(tx, workspaceId, { lists, people: [tally] }, now);
  return changedOf(lists);
}

/**
 * As updateStatuses, for a caller that has locked the people, and afterwards refreshes them (refreshPeople) and updates the
 * counters with the tallies returned.
 */
export function moveStatuses(
  tx: Queryable,
  workspaceId: WorkspaceId,
  moves: Sql,
  now: Date,
  reactivation: Reactivation,
): Promise<ListTally[]> {
  const joined = sql`
        subscribed_at = case w.new_status when 'active' then ${now} else m.subscribed_at end,
        is_quiet = case w.new_status when 'active' then ${reactivation === "rejoin_quietly"} else m.is_quiet end,`;
  return tx.rows(sql`
    with wanted as (
      -- A status for this list takes precedence over a bounce on another list; then the worse status.
      select distinct on (m.mailing_list_id, m.subscriber_id) m.mailing_list_id, m.subscriber_id, m.place,
        m.status as old_status, v.status as new_status
      from (${withWorkspace(workspaceId, sql`(${moves}) v`)}) v cross join lateral (
        select ctid as place, mailing_list_id, subscriber_id, status from memberships
        where workspace_id = v.workspace and subscriber_id = v.subscriber_id offset 0) m
      where m.mailing_list_id = v.mailing_list_id
        or v.status = any(${personWideStatuses}::text[]) and m.status <> 'complained'
      order by m.mailing_list_id, m.subscriber_id, m.mailing_list_id is not distinct from v.mailing_list_id desc,
        ${badness(sql`v.status`)} desc
    ), moved as (
      update memberships m
      set status = w.new_status, updated_at = ${now}, ${reactivation === "restore" ? empty : joined}
        unsubscribed_at =
          case w.new_status when 'unsubscribed' then ${now} when 'active' then null else m.unsubscribed_at end
      from wanted w
      where m.ctid = w.place and m.status <> w.new_status
      returning m.mailing_list_id, w.old_status, w.new_status
    ) ${tallyByListSql(sql`moved`)}`);
}

/**
 * Removes people from a list in the caller's transaction; people who are on no other list are deleted.
 * @param mailingListId null: from all lists
 * @returns how many memberships were removed
 */
export async function removeMembers(
  tx: Queryable,
  workspaceId: WorkspaceId,
  mailingListId: string | null,
  subscriberIds: readonly string[],
  now: Date,
): Promise<number> {
  const ofList = mailingListId === null ? empty : sql`and mailing_list_id = ${mailingListId}`;
  const people = sql`select unnest(${subscriberIds}::uuid[])`;
  await lockPeople(tx, workspaceId, people);
  await lockStats(tx, workspaceId, people);
  const lists = await tx.rows<ListTally>(sql`
    with gone as (
      delete from memberships
      where workspace_id = ${workspaceId} ${ofList} and subscriber_id in (${people})
      returning mailing_list_id, status
    ) ${tallyByListSql(sql`(select mailing_list_id, status as old_status, null as new_status from gone) g`)}`);
  const gone = await runPeopleTally(
    tx,
    sql`
    with gone as (
      delete from subscribers s
      using (${withWorkspace(workspaceId, sql`(${people}) p (id)`)}) k cross join lateral (
        select ctid as place from subscribers where workspace_id = k.workspace and id = k.id offset 0) h
      where s.ctid = h.place and not exists (
        select from memberships m where m.workspace_id = k.workspace and m.subscriber_id = k.id)
      returning s.status, s.email, s.id
    ), uncounted as (
      delete from subscriber_stats t
      using (${withWorkspace(workspaceId, sql`gone`)}) k cross join lateral (
        select ctid as place from subscriber_stats where workspace_id = k.workspace and subscriber_id = k.id offset 0) h
      where t.ctid = h.place
    ), noted as (
      ${noteRemovedSql(workspaceId, sql`gone`)}
    ) ${tallyPeopleSql(sql`(select status as old_status, null as new_status from gone) g`)}`,
  );
  const changed = await refreshPeople(tx, workspaceId, people);
  await moveCounters(tx, workspaceId, { lists, people: [gone, changed] }, now);
  return changedOf(lists);
}

/** Locks people in the order of their addresses. @returns the ids of those that exist */
async function lockPeople(tx: Queryable, workspaceId: WorkspaceId, people: Sql): Promise<string[]> {
  const row = await tx.row<{ ids: string[] }>(sql`
    select coalesce(array_agg(id), '{}') as ids from (
      select id from subscribers where workspace_id = ${workspaceId} and id in (${people}) order by email for update) l`);
  return row?.ids ?? [];
}

/** Locks the figures of people in the order of their ids, as the transactions do that count mail and engagement. */
async function lockStats(tx: Queryable, workspaceId: WorkspaceId, people: Sql): Promise<void> {
  await tx.run(sql`
    select from subscriber_stats where workspace_id = ${workspaceId} and subscriber_id in (${people})
    order by subscriber_id for update`);
}

/** Recomputes the columns of subscribers that derive from their memberships: the worst status, and the active lists. */
export function refreshPeople(tx: Queryable, workspaceId: WorkspaceId, people: Sql): Promise<PeopleTally> {
  return runPeopleTally(
    tx,
    sql`
    with stale as (
      select s.place, s.status as old_status, m.status as new_status, m.active_lists
      from (${withWorkspace(workspaceId, sql`(select distinct id from (${people}) p (id)) p`)}) k cross join lateral (
        select ctid as place, status, active_lists from subscribers
        where workspace_id = k.workspace and id = k.id offset 0) s cross join lateral (
        select case when bool_or(m.status = 'complained') then 'complained' when bool_or(m.status = 'bounced')
            then 'bounced' when bool_or(m.status = 'active') then 'active' else 'unsubscribed' end as status,
          coalesce(string_agg(uuid_send(m.mailing_list_id), '' order by m.mailing_list_id)
            filter (where m.status = 'active'), '') as active_lists
        from memberships m where m.workspace_id = k.workspace and m.subscriber_id = k.id) m
      where (s.status, s.active_lists) is distinct from (m.status, m.active_lists)
    ), refreshed as (
      update subscribers s set status = stale.new_status, active_lists = stale.active_lists
      from stale where s.ctid = stale.place
      returning stale.old_status, stale.new_status
    ) ${tallyPeopleSql(sql`(select * from refreshed where old_status <> new_status) r`)}`,
  );
}

/** How many memberships changed on all lists. */
export function changedOf(lists: readonly ListTally[]): number {
  return lists.reduce((sum, list) => sum + list.changed, 0);
}

/**
 * The statements by which memberships change: people join lists (add-members.ts), change their status and leave. They are
 * set-based, for one person and for ten thousand alike. Everything that follows from a membership moves in the same transaction: the
 * person's own status and active lists, the counters of lists and workspace.
 *
 * Everybody locks in one order, so that no two wait for each other: the list (store of mailing lists, lockMailingList),
 * then the people in the order of their addresses (of arrivals first those who are new, then those who are known), then
 * memberships, then counters, once, at the end (list-counters.ts). A transaction that has locked a person may
 * change all memberships of that person.
 *
 * Statements go from the people given to the tables, row by row through an index, and write where they read (ctid, for
 * the rows are locked): that is what the laterals are for. Statistics may not know a new workspace yet; by them the
 * planner begins at the table, expects one row there, and looks through everybody given for each of a million.
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
import { holdingStatuses } from "./status.ts";

/** From the best to the worst. */
export const badness = (status: Sql) =>
  sql`array_position(array['active', 'unsubscribed', 'bounced', 'complained'], ${status})`;

/**
 * How somebody becomes active again: as one who joins now, the same without a series of an autoresponder, or as if they
 * had never left, with their old joining.
 */
export type Reactivation = "anew" | "quietly" | "unmoved";

/**
 * Sets statuses, in the caller's transaction. `moves` is a select of mailing_list_id, subscriber_id and status; who is
 * not on the list is passed over. Bounced and complained hold for the person and so reach every list: they may come
 * without one (null).
 * @returns how many memberships have another status now
 */
export async function updateStatuses(
  tx: Queryable,
  workspaceId: WorkspaceId,
  moves: Sql,
  now: Date,
  comeback: Reactivation = "anew",
): Promise<number> {
  // Who joins the workspace after this is not held, and so is left out of what follows, whatever `moves` finds then.
  const held = await lockPeople(tx, workspaceId, sql`select subscriber_id from (${moves}) v`);
  const people = sql`select unnest(${held}::uuid[])`;
  const movesOfHeld = sql`select v.* from (${moves}) v where v.subscriber_id in (${people})`;
  const lists = await moveStatuses(tx, workspaceId, movesOfHeld, now, comeback);
  const tally = await refreshPeople(tx, workspaceId, people);
  await moveCounters(tx, workspaceId, { lists, people: [tally] }, now);
  return changedOf(lists);
}

/** The people are locked; the caller moves the counters. */
export function moveStatuses(
  tx: Queryable,
  workspaceId: WorkspaceId,
  moves: Sql,
  now: Date,
  comeback: Reactivation,
): Promise<ListTally[]> {
  const joined = sql`
        subscribed_at = case w.new_status when 'active' then ${now} else m.subscribed_at end,
        is_quiet = case w.new_status when 'active' then ${comeback === "quietly"} else m.is_quiet end,`;
  return tx.rows(sql`
    with wanted as (
      -- What is said of a membership itself counts before what a bounce on another list brings; then the worse.
      select distinct on (m.mailing_list_id, m.subscriber_id) m.mailing_list_id, m.subscriber_id, m.place,
        m.status as old_status, v.status as new_status
      from (${withWorkspace(workspaceId, sql`(${moves}) v`)}) v cross join lateral (
        select ctid as place, mailing_list_id, subscriber_id, status from memberships
        where workspace_id = v.workspace and subscriber_id = v.subscriber_id offset 0) m
      where m.mailing_list_id = v.mailing_list_id
        or v.status = any(${holdingStatuses}::text[]) and m.status <> 'complained'
      order by m.mailing_list_id, m.subscriber_id, m.mailing_list_id is not distinct from v.mailing_list_id desc,
        ${badness(sql`v.status`)} desc
    ), moved as (
      update memberships m
      set status = w.new_status, updated_at = ${now}, ${comeback === "unmoved" ? empty : joined}
        unsubscribed_at =
          case w.new_status when 'unsubscribed' then ${now} when 'active' then null else m.unsubscribed_at end
      from wanted w
      where m.ctid = w.place and m.status <> w.new_status
      returning m.mailing_list_id, w.old_status, w.new_status
    ) ${tallyByListSql(sql`moved`)}`);
}

/**
 * Takes people off a list, in the caller's transaction; a person goes with the last membership.
 * @returns how many left the list
 */
export async function removeMembers(
  tx: Queryable,
  workspaceId: WorkspaceId,
  mailingListId: string,
  subscriberIds: readonly string[],
  now: Date,
): Promise<number> {
  const people = sql`select unnest(${subscriberIds}::uuid[])`;
  await lockPeople(tx, workspaceId, people);
  const lists = await tx.rows<ListTally>(sql`
    with gone as (
      delete from memberships
      where workspace_id = ${workspaceId} and mailing_list_id = ${mailingListId} and subscriber_id in (${people})
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
    ), noted as (
      ${noteRemovedSql(workspaceId, sql`gone`)}
    ) ${tallyPeopleSql(sql`(select status as old_status, null as new_status from gone) g`)}`,
  );
  const changed = await refreshPeople(tx, workspaceId, people);
  await moveCounters(tx, workspaceId, { lists, people: [gone, changed] }, now);
  return changedOf(lists);
}

/** @returns the ids of those who are there */
async function lockPeople(tx: Queryable, workspaceId: WorkspaceId, people: Sql): Promise<string[]> {
  const row = await tx.row<{ ids: string[] }>(sql`
    select coalesce(array_agg(id), '{}') as ids from (
      select id from subscribers where workspace_id = ${workspaceId} and id in (${people}) order by email for update) l`);
  return row?.ids ?? [];
}

/** Brings what the people's rows say of their memberships up to date: the worst status, and the active lists. */
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

export function changedOf(lists: readonly ListTally[]): number {
  return lists.reduce((sum, list) => sum + list.changed, 0);
}

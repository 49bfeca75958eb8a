/**
 * The one door through which people come onto lists, change their status and leave: set-based statements, for one
 * person and for ten thousand alike. Everything that follows from a membership moves in the same transaction: the
 * person's own status and active lists, the counters of lists and workspace.
 *
 * Everybody locks in one order, so that no two wait for each other: the list (store of mailing lists, lockMailingList),
 * then the people in the order of their addresses (of arrivals first those who are new, then those who are known), then
 * memberships, then counters, once, at the end (counters.ts). Who holds a person may change all memberships of that
 * person.
 *
 * Statements go from the people given to the tables, row by row through an index, and write where they read (ctid, for
 * the rows are locked): that is what the laterals are for. Statistics may not know a new workspace yet; by them the
 * planner begins at the table, expects one row there, and looks through everybody given for each of a million.
 */
import sql, { type Sql } from "sql-template-tag";
import type { Queryable } from "../../platform/database/pool.ts";
import type { WorkspaceId } from "../../platform/ids.ts";
import {
  type ListTally,
  listTallies,
  moveCounters,
  type PeopleTally,
  peopleTally,
  tallyPeople,
} from "./counters.ts";
import { type Arrivals, insertNew } from "./newcomers.ts";
import { holdingStatuses } from "./status.ts";
import { withWorkspace } from "./with-workspace.ts";

export interface Arrived {
  readonly given: number;
  /** People the workspace did not know. */
  readonly created: number;
  /** Known people whose names or custom fields changed. */
  readonly updated: number;
  /** Who was not on the list before, those created included. */
  readonly joined: number;
  /** Members from before whose names, custom fields or status changed. */
  readonly changed: number;
}

/**
 * Puts people on a list, in the caller's transaction, which has locked the list. A status given for somebody who is on
 * the list already only ever makes it worse (unsubscribed, bounced, complained); `resubscribe` is the one exception.
 * Whoever bounced or complained anywhere joins with that status: it holds for the person.
 */
export async function insertMembers(
  tx: Queryable,
  workspaceId: WorkspaceId,
  { people: staged, ...terms }: Arrivals,
): Promise<Arrived> {
  const arrivals = { ...terms, people: sql`(${withWorkspace(workspaceId, sql`${staged} p`)})` };
  const { now, mailingListId } = arrivals;
  const given = await countPeopleOf(tx, arrivals.people);
  const people = await insertNew(tx, workspaceId, arrivals, given);
  const { changed: created } = people;
  const lists: ListTally[] = created === 0 ? [] : [tallyOfNew(mailingListId, people)];
  const tallies: PeopleTally[] = [people];
  let joined = created;
  let updated = 0;
  let changed = 0;
  const affected = created < given ? await listAffected(tx, arrivals) : [];
  if (affected.length > 0) {
    const others = {
      ...arrivals,
      people: sql`(select * from ${arrivals.people} p where id = any(${affected}::uuid[]))`,
    };
    if (arrivals.updateExisting) updated = await updateKnown(tx, others);
    const known = sql`(
      select s.id, p.workspace, s.status as held, p.source, coalesce(p.status, 'active') as wanted
      from ${others.people} p cross join lateral (
        select id, status from subscribers where workspace_id = p.workspace and email = p.email offset 0) s
      where s.id <> p.id)`;
    const moves = statusesOf(arrivals, known);
    const moved = await moveStatuses(tx, workspaceId, moves, now, arrivals.isQuiet);
    // Between the changes of members and the arrival of others, who then cannot be told from them.
    changed = await countChanged(tx, mailingListId, known);
    const added = await insertKnown(tx, workspaceId, arrivals, known);
    joined += changedOf(added);
    lists.push(...moved, ...added);
    tallies.push(await refreshPeople(tx, workspaceId, sql`select id from ${known} k`));
  }
  await moveCounters(tx, workspaceId, { lists, people: tallies }, now);
  return { given, created, updated, joined, changed };
}

async function countPeopleOf(tx: Queryable, people: Sql): Promise<number> {
  const row = await tx.row<{ count: number }>(sql`select count(*)::int as count from ${people} p`);
  return row?.count ?? 0;
}

/**
 * The arrivals that change anything for somebody who is known, and locked. Of a file that is imported again these are
 * few, and what follows takes four times as long as to find them.
 * @returns their ids among the arrivals
 */
async function listAffected(
  tx: Queryable,
  { people, mailingListId, updateExisting, resubscribe }: Arrivals,
): Promise<string[]> {
  const row = await tx.row<{ ids: string[] }>(sql`
    select coalesce(array_agg(p.id), '{}') as ids
    from (select *, coalesce(status, 'active') as wanted from ${people} p) p cross join lateral (
        select id, status as held, first_name, last_name, custom_fields from subscribers
        where workspace_id = p.workspace and email = p.email offset 0) h
      left join lateral (
        select status from memberships
        where workspace_id = p.workspace and mailing_list_id = ${mailingListId} and subscriber_id = h.id offset 0) m on true
    where h.id <> p.id and (m.status is null or ${updateExisting}::boolean and ${saysMore}
      or ${isMove(sql`p.wanted`, sql`h.held`, resubscribe)})`);
  return row?.ids ?? [];
}

/** Whether the names and custom fields of `p`, an arrival, are not those of `h`, the same person, already. */
const saysMore = sql`(coalesce(p.first_name, h.first_name), coalesce(p.last_name, h.last_name),
  h.custom_fields || p.custom_fields) is distinct from (h.first_name, h.last_name, h.custom_fields)`;

/** Names and custom fields of the known people, who are locked. @returns how many changed */
function updateKnown(tx: Queryable, { people, now }: Arrivals): Promise<number> {
  return tx.run(sql`
    update subscribers s
    set first_name = k.first_name, last_name = k.last_name, custom_fields = k.custom_fields, updated_at = ${now}
    from (
      select h.place, coalesce(p.first_name, h.first_name) as first_name,
        coalesce(p.last_name, h.last_name) as last_name, h.custom_fields || p.custom_fields as custom_fields
      from ${people} p cross join lateral (
        select ctid as place, id, first_name, last_name, custom_fields from subscribers
        where workspace_id = p.workspace and email = p.email offset 0) h
      where h.id <> p.id and ${saysMore}) k
    where s.ctid = k.place`);
}

/** New people joined one list, each with the status of the person. */
function tallyOfNew(mailingListId: string, people: PeopleTally): ListTally {
  return {
    mailing_list_id: mailingListId,
    ...people,
    became_active: people.active,
    left_by_unsubscribing: 0,
    left_by_bounce: 0,
    left_by_complaint: 0,
  };
}

function insertKnown(
  tx: Queryable,
  workspaceId: WorkspaceId,
  { mailingListId, now, isQuiet = false }: Arrivals,
  known: Sql,
): Promise<ListTally[]> {
  return tx.rows(sql`
    with joined as (
      insert into memberships (workspace_id, mailing_list_id, subscriber_id, status, source, subscribed_at,
        unsubscribed_at, created_at, updated_at, is_quiet)
      select ${workspaceId}, ${mailingListId}, id,
        case when 'complained' in (held, wanted) then 'complained' when 'bounced' in (held, wanted) then 'bounced'
          else wanted end,
        source, ${now}::timestamptz, case when wanted = 'unsubscribed' then ${now}::timestamptz end, ${now}, ${now},
        ${isQuiet}
      from ${known} k
      on conflict (workspace_id, mailing_list_id, subscriber_id) do nothing
      returning mailing_list_id, status
    ) ${listTallies(sql`(select mailing_list_id, null as old_status, status as new_status from joined) j`)}`);
}

/** Members of the list, known people all, whom this transaction has changed so far, or their membership. */
async function countChanged(tx: Queryable, mailingListId: string, known: Sql): Promise<number> {
  const row = await tx.row<{ count: number }>(sql`
    select count(*)::int as count
    from ${known} k cross join lateral (
        select xmin as person from subscribers where workspace_id = k.workspace and id = k.id offset 0) s
      cross join lateral (
        select xmin as membership from memberships
        where workspace_id = k.workspace and mailing_list_id = ${mailingListId} and subscriber_id = k.id offset 0) m
    where pg_current_xact_id()::xid in (s.person, m.membership)`);
  return row?.count ?? 0;
}

/**
 * The moves that arrivals bring to people who are there: of members for the worse, or back where that is asked for; of
 * anybody who is said to have bounced or complained, on all lists.
 */
function statusesOf({ mailingListId, resubscribe }: Arrivals, known: Sql): Sql {
  return sql`
    select m.mailing_list_id, k.id as subscriber_id, k.wanted as status
    from ${known} k left join lateral (
      select mailing_list_id, status from memberships
      where workspace_id = k.workspace and mailing_list_id = ${mailingListId} and subscriber_id = k.id offset 0) m on true
    where ${isMove(sql`k.wanted`, sql`k.held`, resubscribe)}`;
}

/** Whether a status said of a person moves the membership `m`, or the person. */
const isMove = (wanted: Sql, held: Sql, resubscribe: boolean) => sql`(
  ${badness(wanted)} > ${badness(sql`m.status`)}
  or ${wanted} = any(${holdingStatuses}::text[]) and ${badness(wanted)} > ${badness(held)}
  or ${resubscribe}::boolean and ${wanted} = 'active' and m.status = 'unsubscribed')`;

const badness = (status: Sql) =>
  sql`array_position(array['active', 'unsubscribed', 'bounced', 'complained'], ${status})`;

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
): Promise<number> {
  // Who joins the workspace after this is not held, and so is left out of what follows, whatever `moves` finds then.
  const held = await lockPeople(tx, workspaceId, sql`select subscriber_id from (${moves}) v`);
  const people = sql`select unnest(${held}::uuid[])`;
  const movesOfHeld = sql`select v.* from (${moves}) v where v.subscriber_id in (${people})`;
  const lists = await moveStatuses(tx, workspaceId, movesOfHeld, now);
  const tally = await refreshPeople(tx, workspaceId, people);
  await moveCounters(tx, workspaceId, { lists, people: [tally] }, now);
  return changedOf(lists);
}

/** The people are locked. @param isQuiet whether no autoresponder begins for those who come back */
function moveStatuses(
  tx: Queryable,
  workspaceId: WorkspaceId,
  moves: Sql,
  now: Date,
  isQuiet = false,
): Promise<ListTally[]> {
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
      set status = w.new_status, updated_at = ${now},
        subscribed_at = case w.new_status when 'active' then ${now} else m.subscribed_at end,
        is_quiet = case w.new_status when 'active' then ${isQuiet} else m.is_quiet end,
        unsubscribed_at =
          case w.new_status when 'unsubscribed' then ${now} when 'active' then null else m.unsubscribed_at end
      from wanted w
      where m.ctid = w.place and m.status <> w.new_status
      returning m.mailing_list_id, w.old_status, w.new_status
    ) ${listTallies(sql`moved`)}`);
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
    ) ${listTallies(sql`(select mailing_list_id, status as old_status, null as new_status from gone) g`)}`);
  const gone = await tallyPeople(
    tx,
    sql`
    with gone as (
      delete from subscribers s
      using (${withWorkspace(workspaceId, sql`(${people}) p (id)`)}) k cross join lateral (
        select ctid as place from subscribers where workspace_id = k.workspace and id = k.id offset 0) h
      where s.ctid = h.place and not exists (
        select from memberships m where m.workspace_id = k.workspace and m.subscriber_id = k.id)
      returning s.status
    ) ${peopleTally(sql`(select status as old_status, null as new_status from gone) g`)}`,
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
function refreshPeople(tx: Queryable, workspaceId: WorkspaceId, people: Sql): Promise<PeopleTally> {
  return tallyPeople(
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
    ) ${peopleTally(sql`(select * from refreshed where old_status <> new_status) r`)}`,
  );
}

function changedOf(lists: readonly ListTally[]): number {
  return lists.reduce((sum, list) => sum + list.changed, 0);
}

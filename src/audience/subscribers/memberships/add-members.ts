/**
 * Adds people to a list: people who are new to the workspace get a row and their first membership, known people are
 * merged with what is given (merge-people-to-add.ts) and get a membership.
 */
import sql, { type Sql } from "sql-template-tag";
import { isDuplicate, type Queryable } from "#platform/database/pool.ts";
import { inSavepoint } from "#platform/database/savepoint.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import {
  type ListTally,
  moveCounters,
  type PeopleTally,
  runPeopleTally,
  tallyByListSql,
  tallyPeopleSql,
} from "./counters.ts";
import { changedOf, moveStatuses, refreshPeople } from "./membership-changes.ts";
import {
  changesStatus,
  joinMembership,
  type MembersToAdd,
  matchedPeople,
  mergedValues,
  withDefaults,
} from "./merge-people-to-add.ts";
import { withWorkspace } from "./planner-hints.ts";

/** Numbers of people. */
export interface AddedMembers {
  readonly given: number;
  /** New to the workspace. */
  readonly created: number;
  /** Known people whose names or custom fields changed. */
  readonly updated: number;
  /** Not on the list before; `created` is part of this. */
  readonly joined: number;
  /** Already members, and their names, custom fields or status changed. */
  readonly changed: number;
}

/**
 * Adds people to a list in the caller's transaction, which has locked the list (lockMailingList). A status given for a
 * member only ever makes it worse (unsubscribed, bounced, complained), except for `resubscribe`. A person who bounced or
 * complained on any list joins with that status.
 */
export async function insertMembers(
  tx: Queryable,
  workspaceId: WorkspaceId,
  { people: given, ...terms }: MembersToAdd,
): Promise<AddedMembers> {
  const members = { ...terms, people: sql`(${withWorkspace(workspaceId, sql`${given} p`)})` };
  const { now, mailingListId } = members;
  const count = await countPeopleOf(tx, members.people);
  const people = await insertNewPeople(tx, workspaceId, members, count);
  const { changed: created } = people;
  const lists: ListTally[] = created === 0 ? [] : [tallyOfNew(mailingListId, people)];
  const tallies: PeopleTally[] = [people];
  let joined = created;
  let updated = 0;
  let changed = 0;
  const affected = created < count ? await listAffected(tx, members) : [];
  if (affected.length > 0) {
    const others = {
      ...members,
      people: sql`(select * from ${members.people} p where id = any(${affected}::uuid[]))`,
    };
    updated = await updateKnownPeople(tx, others);
    const known = sql`(
      select s.id, p.workspace, s.status as held, p.source, coalesce(p.status, 'active') as wanted
      from ${others.people} p cross join lateral (
        select id, status from subscribers where workspace_id = p.workspace and email = p.email offset 0) s
      where s.id <> p.id)`;
    const moves = statusChangesOf(members, known);
    const moved = await moveStatuses(
      tx,
      workspaceId,
      moves,
      now,
      members.isQuiet ? "rejoin_quietly" : "rejoin",
    );
    // This runs before insertKnownMemberships: afterwards changed members cannot be distinguished from members who were
    // just added.
    changed = await countChangedMembers(tx, mailingListId, known);
    const added = await insertKnownMemberships(tx, workspaceId, members, known);
    joined += changedOf(added);
    lists.push(...moved, ...added);
    tallies.push(await refreshPeople(tx, workspaceId, sql`select id from ${known} k`));
  }
  await moveCounters(tx, workspaceId, { lists, people: tallies }, now);
  return { given: count, created, updated, joined, changed };
}

async function countPeopleOf(tx: Queryable, people: Sql): Promise<number> {
  const row = await tx.row<{ count: number }>(sql`select count(*)::int as count from ${people} p`);
  return row?.count ?? 0;
}

/** The tally of the list that new people joined: each membership has the status of its person. */
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

/** Inserts the people who are new to the workspace with their memberships, and locks the known people. */
async function insertNewPeople(
  tx: Queryable,
  workspaceId: WorkspaceId,
  members: MembersToAdd,
  given: number,
): Promise<PeopleTally> {
  const all = members.likelyNew ? await insertAllAsNew(tx, workspaceId, members) : undefined;
  if (all !== undefined) return all;
  let tally: PeopleTally = { active: 0, unsubscribed: 0, bounced: 0, complained: 0, changed: 0 };
  for (;;) {
    tally = sumOfPeople(tally, await insertUnknown(tx, workspaceId, members));
    if (tally.changed === given) return tally;
    const known = await lockKnownPeople(tx, workspaceId, members.people);
    // A person who made the insert skip a row may be deleted before the lock, and is then new: insert again.
    if (tally.changed + known === given) return tally;
  }
}

/** Inserts all people as new; undefined, with nothing written, when the workspace knows one of them. */
async function insertAllAsNew(
  tx: Queryable,
  workspaceId: WorkspaceId,
  members: MembersToAdd,
): Promise<PeopleTally | undefined> {
  const { people } = members;
  // The savepoint is released at once: otherwise later statements would belong to its subtransaction, and
  // countChangedMembers would miss them.
  const inserted = await inSavepoint(tx, () => tx.run(insertPeopleSql(workspaceId, members)), {
    onFault: isDuplicate,
  });
  if (inserted === undefined) return undefined;
  const joining = sql`(select id, coalesce(status, 'active') as status, source from ${people} p)`;
  await tx.run(insertMembershipsSql(workspaceId, members, joining));
  await tx.run(insertStatsSql(workspaceId, people));
  return runPeopleTally(
    tx,
    tallyPeopleSql(sql`(select null as old_status, status as new_status from ${joining} j) w`),
  );
}

/**
 * Inserts the people whom the workspace does not know; waits for transactions that are inserting one of them. Looking
 * the people up first would be twice as fast where they are known. But while the table is small, the planner reads all
 * of it for each person, including the rows that this statement has written so far.
 */
function insertUnknown(tx: Queryable, workspaceId: WorkspaceId, members: MembersToAdd): Promise<PeopleTally> {
  return runPeopleTally(
    tx,
    sql`
    with written as (
      ${insertPeopleSql(workspaceId, members)} on conflict (workspace_id, email) do nothing
      returning id, status, source
    ), joined as (
      -- No conflict is possible: no other transaction sees these people yet.
      ${insertMembershipsSql(workspaceId, members, sql`written`)}
    ), counted as (
      ${insertStatsSql(workspaceId, sql`written`)}
    ) ${tallyPeopleSql(sql`(select null as old_status, status as new_status from written) w`)}`,
  );
}

function insertPeopleSql(workspaceId: WorkspaceId, members: MembersToAdd): Sql {
  const { mailingListId, people, now } = members;
  return sql`
    insert into subscribers (workspace_id, id, email, first_name, last_name, source, custom_fields, status,
      active_lists, created_at, updated_at)
    select ${workspaceId}, id, email, first_name, last_name, source, ${withDefaults(sql`custom_fields`, members)},
      coalesce(status, 'active'),
      case when coalesce(status, 'active') = 'active' then uuid_send(${mailingListId}) else '' end, ${now}, ${now}
    from ${people} p order by email`;
}

/** @param joining a relation with the columns id, status and source */
function insertMembershipsSql(
  workspaceId: WorkspaceId,
  { mailingListId, now, isQuiet = false }: MembersToAdd,
  joining: Sql,
): Sql {
  return sql`
    insert into memberships (workspace_id, mailing_list_id, subscriber_id, status, source, subscribed_at,
      unsubscribed_at, created_at, updated_at, is_quiet)
    select ${workspaceId}, ${mailingListId}, id, status, source, ${now}::timestamptz,
      case when status = 'unsubscribed' then ${now}::timestamptz end, ${now}, ${now}, ${isQuiet}
    from ${joining} j`;
}

/** @param people a relation with the column id: people who are new */
function insertStatsSql(workspaceId: WorkspaceId, people: Sql): Sql {
  return sql`
    insert into subscriber_stats (workspace_id, subscriber_id) select ${workspaceId}, id from ${people} n`;
}

/** Locks the people whom the workspace knew before. @returns how many they are */
async function lockKnownPeople(tx: Queryable, workspaceId: WorkspaceId, people: Sql): Promise<number> {
  const row = await tx.row<{ count: number }>(sql`
    select count(*)::int as count from (
      select from (${withWorkspace(workspaceId, sql`(select id, email from ${people} p order by email) p`)}) p
      cross join lateral (
        select from subscribers s where workspace_id = p.workspace and email = p.email and s.id <> p.id
        for update) s) l`);
  return row?.count ?? 0;
}

function sumOfPeople(one: PeopleTally, other: PeopleTally): PeopleTally {
  return {
    active: one.active + other.active,
    unsubscribed: one.unsubscribed + other.unsubscribed,
    bounced: one.bounced + other.bounced,
    complained: one.complained + other.complained,
    changed: one.changed + other.changed,
  };
}

/**
 * Known people whose row or membership would change. When a file is imported again they are few, and the statements
 * that follow take four times as long as this one.
 * @returns their ids in the relation of people to add
 */
async function listAffected(tx: Queryable, members: MembersToAdd): Promise<string[]> {
  const row = await tx.row<{ ids: string[] }>(sql`
    select coalesce(array_agg(p.id), '{}') as ids
    from ${matchedPeople(members)}
    where m.status is null or ${mergedValues(members).isChanged}
      or ${changesStatus(sql`coalesce(p.status, 'active')`, sql`h.held`, members.resubscribe)}`);
  return row?.ids ?? [];
}

/** Updates names and custom fields of known people, who are locked. @returns how many changed */
function updateKnownPeople(tx: Queryable, members: MembersToAdd): Promise<number> {
  const { first_name, last_name, custom_fields, isChanged } = mergedValues(members);
  return tx.run(sql`
    update subscribers s
    set first_name = k.first_name, last_name = k.last_name, custom_fields = k.custom_fields, updated_at = ${members.now}
    from (
      select h.place, ${first_name} as first_name, ${last_name} as last_name, ${custom_fields} as custom_fields
      from ${matchedPeople(members)}
      where ${isChanged}) k
    where s.ctid = k.place`);
}

/** Inserts the memberships of known people who are not on the list yet. */
function insertKnownMemberships(
  tx: Queryable,
  workspaceId: WorkspaceId,
  { mailingListId, now, isQuiet = false }: MembersToAdd,
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
    ) ${tallyByListSql(sql`(select mailing_list_id, null as old_status, status as new_status from joined) j`)}`);
}

/** Counts the known people who are members and whose row or membership this transaction has changed so far. */
async function countChangedMembers(tx: Queryable, mailingListId: string, known: Sql): Promise<number> {
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

/** A select for moveStatuses: the status changes of known people, where changesStatus holds. */
function statusChangesOf({ mailingListId, resubscribe }: MembersToAdd, known: Sql): Sql {
  return sql`
    select m.mailing_list_id, k.id as subscriber_id, k.wanted as status
    from ${known} k ${joinMembership(sql`k.workspace`, mailingListId, sql`k.id`)}
    where ${changesStatus(sql`k.wanted`, sql`k.held`, resubscribe)}`;
}

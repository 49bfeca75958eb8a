/** Adds people to a list: new ones (new-people.ts) and people whom the workspace knows. */
import sql, { type Sql } from "sql-template-tag";
import type { Queryable } from "#platform/database/pool.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import { type ListTally, moveCounters, type PeopleTally, tallyByListSql } from "./counters.ts";
import { badness, changedOf, moveStatuses, refreshPeople } from "./membership-changes.ts";
import { insertNew, type MembersToAdd, withDefaults } from "./new-people.ts";
import { withWorkspace } from "./planner-hints.ts";
import { holdingStatuses } from "./status.ts";

export interface AddedMembers {
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
  { people: staged, ...terms }: MembersToAdd,
): Promise<AddedMembers> {
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
    updated = await updateKnown(tx, others);
    const known = sql`(
      select s.id, p.workspace, s.status as held, p.source, coalesce(p.status, 'active') as wanted
      from ${others.people} p cross join lateral (
        select id, status from subscribers where workspace_id = p.workspace and email = p.email offset 0) s
      where s.id <> p.id)`;
    const moves = statusesOf(arrivals, known);
    const moved = await moveStatuses(tx, workspaceId, moves, now, arrivals.isQuiet ? "quietly" : "anew");
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

/** What insertMembers would do. */
export interface PreviewedMembers {
  readonly given: number;
  /** People who are not on the list, and of these the ones that the workspace does not know. */
  readonly joining: number;
  readonly created: number;
  /** Members whose names, custom fields or status would change. */
  readonly changed: number;
  /** The first of those who would join, and of those who are on the list, by their lines. */
  readonly newcomers: readonly PreviewedPerson[];
  readonly members: readonly PreviewedPerson[];
}

export interface PreviewedPerson {
  /** As in the staging table. */
  readonly line: number;
  readonly email: string;
}

/** Counts what insertMembers would do with the people of the staging table, and changes nothing. */
export async function previewMembers(
  tx: Queryable,
  workspaceId: WorkspaceId,
  { people: staged, ...terms }: MembersToAdd,
  mostExamples: number,
): Promise<PreviewedMembers> {
  const arrivals = { ...terms, people: sql`(${withWorkspace(workspaceId, sql`${staged} p`)})` };
  const { isNews } = outcome(arrivals);
  const moves = isMove(sql`coalesce(p.status, 'active')`, sql`h.held`, arrivals.resubscribe);
  const examples = (condition: Sql) => sql`
    (select coalesce(json_agg(e), '[]') from (
      select line, email from seen where ${condition} order by line limit ${mostExamples}) e)`;
  const row = await tx.row<PreviewedMembers>(sql`
    with seen as materialized (
      select p.line, p.email, h.id is not null as is_known, m.status is not null as is_member,
        coalesce(m.status is not null and (${isNews} or ${moves}), false) as is_changed
      from ${encounters(arrivals, sql`left join`)})
    select count(*)::int as given, (count(*) filter (where not is_member))::int as joining,
      (count(*) filter (where not is_known))::int as created, (count(*) filter (where is_changed))::int as changed,
      ${examples(sql`not is_member`)} as newcomers, ${examples(sql`is_member`)} as members
    from seen`);
  if (row === undefined) throw new Error("a count without a row");
  return row;
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
async function listAffected(tx: Queryable, arrivals: MembersToAdd): Promise<string[]> {
  const row = await tx.row<{ ids: string[] }>(sql`
    select coalesce(array_agg(p.id), '{}') as ids
    from ${encounters(arrivals)}
    where m.status is null or ${outcome(arrivals).isNews}
      or ${isMove(sql`coalesce(p.status, 'active')`, sql`h.held`, arrivals.resubscribe)}`);
  return row?.ids ?? [];
}

/** Names and custom fields of the known people, who are locked. @returns how many changed */
function updateKnown(tx: Queryable, arrivals: MembersToAdd): Promise<number> {
  const { first_name, last_name, custom_fields, isNews } = outcome(arrivals);
  return tx.run(sql`
    update subscribers s
    set first_name = k.first_name, last_name = k.last_name, custom_fields = k.custom_fields, updated_at = ${arrivals.now}
    from (
      select h.place, ${first_name} as first_name, ${last_name} as last_name, ${custom_fields} as custom_fields
      from ${encounters(arrivals)}
      where ${isNews}) k
    where s.ctid = k.place`);
}

/**
 * Each arrival `p` who is known, with the person `h`, and the membership `m` of who is on the list already. With
 * `left join` also each one who is not known.
 */
function encounters({ people, mailingListId }: MembersToAdd, join = sql`join`): Sql {
  return sql`
    ${people} p ${join} lateral (
      select ctid as place, id, status as held, first_name, last_name, custom_fields from subscribers
      where workspace_id = p.workspace and email = p.email offset 0) h on h.id <> p.id
    ${withMembership(sql`p.workspace`, mailingListId, sql`h.id`)}`;
}

/** Joins the membership `m` of a person on the list, where there is one. */
function withMembership(workspace: Sql, mailingListId: string, person: Sql): Sql {
  return sql`
    left join lateral (
      select mailing_list_id, status from memberships
      where workspace_id = ${workspace} and mailing_list_id = ${mailingListId} and subscriber_id = ${person} offset 0) m
    on true`;
}

/** The names and custom fields of a known person after one of the encounters, and whether any of them is to be written. */
function outcome(arrivals: MembersToAdd) {
  const { updateExisting } = arrivals;
  const [before, after] = updateExisting ? [sql`h`, sql`p`] : [sql`p`, sql`h`];
  const first_name = sql`coalesce(${after}.first_name, ${before}.first_name)`;
  const last_name = sql`coalesce(${after}.last_name, ${before}.last_name)`;
  const said = sql`${before}.custom_fields || ${after}.custom_fields`;
  const custom_fields = sql`case when m.status is null then ${withDefaults(said, arrivals)} else ${said} end`;
  const isNews = sql`((m.status is null or ${updateExisting}::boolean)
    and (${first_name}, ${last_name}, ${custom_fields}) is distinct from (h.first_name, h.last_name, h.custom_fields))`;
  return { first_name, last_name, custom_fields, isNews };
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
function statusesOf({ mailingListId, resubscribe }: MembersToAdd, known: Sql): Sql {
  return sql`
    select m.mailing_list_id, k.id as subscriber_id, k.wanted as status
    from ${known} k ${withMembership(sql`k.workspace`, mailingListId, sql`k.id`)}
    where ${isMove(sql`k.wanted`, sql`k.held`, resubscribe)}`;
}

/** Whether a status said of a person moves the membership `m`, or the person. */
const isMove = (wanted: Sql, held: Sql, resubscribe: boolean) => sql`(
  ${badness(wanted)} > ${badness(sql`m.status`)}
  or ${wanted} = any(${holdingStatuses}::text[]) and ${badness(wanted)} > ${badness(held)}
  or ${resubscribe}::boolean and ${wanted} = 'active' and m.status = 'unsubscribed')`;

/**
 * The recipients of campaigns. A step of an expansion (expand.ts) chooses the next people of the audience in the order of
 * their ids. One statement leaves out those who get no mail, and writes recipient, log row and queue row of the others.
 */
import sql, { type Sql } from "sql-template-tag";
import { bounded } from "#audience/segments/members-store.ts";
import { withWorkspace } from "#audience/subscribers/memberships/planner-hints.ts";
import { cameBackSql } from "#audience/subscribers/memberships/removed-people-store.ts";
import type { Queryable } from "#platform/database/pool.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import { type BulkMail, exclusionsSql, insertBulkMailSql } from "#sending/acceptance/bulk-mail-store.ts";
import type { Excluded } from "./expansion-store.ts";

/** The active members of a list, as a relation with the column id. */
export const listMembersSql = (workspaceId: WorkspaceId, mailingListId: string): Sql => sql`(
  select subscriber_id as id from memberships
  where workspace_id = ${workspaceId} and mailing_list_id = ${mailingListId} and status = 'active')`;

/** Which list status and which suppression scopes apply to the people of an audience. */
export interface EligibilityTerms {
  readonly listId: string | null;
  /** Set when the campaign goes to a segment. */
  readonly segmentId: string | null;
  /** Whether all people of the audience are active members of the list: then their status is not looked up. */
  readonly isActive: boolean;
}

/** The subscribers of a relation of ids, each looked up on its own. */
const eachOf = (workspaceId: WorkspaceId, people: Sql): Sql => sql`
  (${withWorkspace(workspaceId, sql`${people} p`)}) p cross join lateral (
    select workspace_id, id, email, email_domain, status from subscribers
    where workspace_id = p.workspace and id = p.id offset 0) s`;

/** The chosen subscribers, looked up in one index scan. */
const allOf = (workspaceId: WorkspaceId, { ids }: Chosen): Sql => sql`
  (${withWorkspace(workspaceId, sql`(select ${ids}::uuid[] as ids) c`)}) p cross join lateral (
    select workspace_id, id, email, email_domain, status from subscribers
    where workspace_id = p.workspace and id = any (p.ids) offset 0) s`;

/** The columns that the suppression check needs, for `people` from eachOf or allOf. */
function candidatesSql(people: Sql, { listId, segmentId, isActive }: EligibilityTerms): Sql {
  const statusThere = sql`(select m.status from memberships m
    where m.workspace_id = p.workspace and m.mailing_list_id = ${listId} and m.subscriber_id = s.id)`;
  return sql`
    select s.workspace_id, s.id as subscriber_id, s.email as address, s.email_domain as domain,
      ${isActive ? sql`'active'` : listId === null ? sql`s.status` : statusThere} as status,
      ${listId}::uuid as mailing_list_id, ${segmentId}::uuid as segment_id, false as is_platform
    from ${people}`;
}

/** How many people of an audience have status active; suppression is not checked. */
export async function countMailable(
  db: Queryable,
  workspaceId: WorkspaceId,
  people: Sql,
  terms: EligibilityTerms,
): Promise<number> {
  const row = await db.row<{ count: number }>(
    bounded(sql`
      select count(*)::int as count from (${candidatesSql(eachOf(workspaceId, people), terms)}) asked
      where asked.status = 'active'`),
  );
  return row?.count ?? 0;
}

/** How many people of an audience there are in a sample, and how many of them get no mail, by reason. */
export interface AudienceSample extends Excluded {
  readonly looked: number;
}

/** A random part of an audience, another one each time that it is read. @param share above 0; from 1 on it is all people */
export const someOf = (people: Sql, share: number): Sql =>
  share >= 1 ? people : sql`(select id from ${people} a where random() < ${share})`;

/** Counts those of these people who would get no message now. @param unreachable ids of those without a telephone number */
export async function countExclusions(
  db: Queryable,
  workspaceId: WorkspaceId,
  people: Sql,
  terms: EligibilityTerms,
  unreachable: readonly string[],
): Promise<AudienceSample> {
  const row = await db.row<AudienceSample>(
    bounded(sql`
      with asked as materialized (${candidatesSql(eachOf(workspaceId, people), terms)})
      select count(*)::int as looked, count(*) filter (where cause = 'suppressed')::int as suppressed,
        count(*) filter (where cause = 'unsubscribed')::int as unsubscribed,
        count(*) filter (where cause = 'invalid')::int as invalid
      from ${exclusionsSql(sql`asked`, unreachable)} checked`),
  );
  return row ?? { looked: 0, suppressed: 0, unsubscribed: 0, invalid: 0 };
}

/** Whether an audience has a person who may get mail. True without proof when there are more people than `most`. */
export async function hasReachable(
  db: Queryable,
  workspaceId: WorkspaceId,
  people: Sql,
  terms: EligibilityTerms & { readonly most: number },
): Promise<boolean> {
  const first = sql`(select id from ${people} a limit ${terms.most})`;
  // Materialized, so that the status is looked up once, and only for these people.
  const found = await db.row(
    bounded(sql`
      with asked as materialized (${candidatesSql(eachOf(workspaceId, first), terms)})
      select from ${exclusionsSql(sql`asked`)} checked where cause is null limit 1`),
  );
  return found !== undefined || hasAtLeast(db, people, terms.most);
}

/** Whether an audience has at least `count` people. */
export async function hasAtLeast(db: Queryable, people: Sql, count: number): Promise<boolean> {
  const first = sql`(select id from ${people} a limit ${count})`;
  const looked = await db.row<{ count: number }>(bounded(sql`select count(*)::int as count from ${first} f`));
  return looked?.count === count;
}

/** Whether an audience has a person with a higher id. */
export async function hasPeopleAfter(db: Queryable, people: Sql, after: string): Promise<boolean> {
  const found = await db.row(bounded(sql`select from ${people} a where id > ${after} limit 1`));
  return found !== undefined;
}

/** Members of a list who are not active, by the reason why they get no mail. */
export async function countInactive(
  db: Queryable,
  workspaceId: WorkspaceId,
  mailingListId: string,
): Promise<Excluded> {
  const counted = await db.row<Excluded>(sql`
    select unsubscribed, complained as suppressed, bounced as invalid from list_counters
    where workspace_id = ${workspaceId} and mailing_list_id = ${mailingListId}`);
  return counted ?? { unsubscribed: 0, suppressed: 0, invalid: 0 };
}

/** The next people of an audience, in the order of their ids. */
export interface Chosen {
  /** Their ids as a PostgreSQL array literal, which is only passed back to the database. */
  readonly ids: string;
  /** How many. If fewer than requested, no one is left after them. */
  readonly seen: number;
  /** The highest id; null when there are no people. */
  readonly to: string | null;
}

/** At most `size` people of an audience with an id higher than `after`. */
export async function choosePeople(
  db: Queryable,
  audience: Sql,
  { after, size }: { readonly after: string; readonly size: number },
): Promise<Chosen> {
  const chosen = await db.row<Chosen>(
    bounded(sql`
      select ids::text as ids, cardinality(ids) as seen, ids[cardinality(ids)] as to
      from (select array(select id from ${audience} a where id > ${after} order by id limit ${size}) as ids) c`),
  );
  return chosen ?? { ids: "{}", seen: 0, to: null };
}

/** The chosen people as a relation with the column id. */
export const chosenSql = ({ ids }: Chosen): Sql => sql`(select unnest(${ids}::uuid[]) as id)`;

/** The people and the message properties of one step. */
export interface ExpansionStep extends EligibilityTerms, Omit<BulkMail, "workspaceId" | "source"> {
  readonly chosen: Chosen;
  /** Ids of people without a valid telephone number, for an SMS. */
  readonly unreachable: readonly string[];
}

export interface ExpansionStepResult extends Excluded {
  readonly added: number;
  /** How many of them go to each domain, as a JSON object for addQueuedByDomain. */
  readonly by_domain: string;
  /** Excluded because the address has a message of this campaign: the subscriber was removed and added again. */
  readonly duplicate: number;
  /** How many of the chosen people were removed and added again, with or without a message. */
  readonly returned: number;
}

const emptyStep: ExpansionStepResult = {
  added: 0,
  by_domain: "{}",
  suppressed: 0,
  unsubscribed: 0,
  invalid: 0,
  duplicate: 0,
  returned: 0,
};

/**
 * Runs in the transaction that moves the cursor. It only inserts rows, so steps that run at the same time do not wait for
 * each other here.
 */
export async function insertRecipients(
  tx: Queryable,
  workspaceId: WorkspaceId,
  step: ExpansionStep,
): Promise<ExpansionStepResult> {
  const { originId } = step;
  const names = { mail: sql`mail`, byDomain: sql`by_domain` };
  const statement = sql`
    with asked as materialized (
      ${candidatesSql(allOf(workspaceId, step.chosen), step)}
    ), returned as materialized (
      select b.subscriber_id, bool_or(r.message_id is not null) as has_message
      from (${cameBackSql(workspaceId, sql`asked`)}) b left join lateral (
        select message_id from campaign_recipients
        where workspace_id = ${workspaceId} and campaign_id = ${originId} and subscriber_id = b.former_id offset 0) r
        on true
      group by b.subscriber_id
    ), checked as materialized (
      select subscriber_id, address, domain, case
          when cause is not null then cause
          when subscriber_id in (select subscriber_id from returned where has_message) then 'duplicate' end as cause
      from ${exclusionsSql(sql`asked`, step.unreachable)} j
    ), ${insertBulkMailSql(
      sql`(select subscriber_id, address, domain from checked where cause is null)`,
      { ...step, workspaceId, source: "campaign" },
      names,
    )}, added as (
      insert into campaign_recipients (workspace_id, campaign_id, subscriber_id, message_id)
      select ${workspaceId}, ${originId}, subscriber_id, id from ${names.mail}
    )
    select (select count(*)::int from ${names.mail}) as added,
      (select coalesce(json_object_agg(domain, queued), '{}')::text from ${names.byDomain}) as by_domain,
      count(*) filter (where cause = 'suppressed')::int as suppressed,
      count(*) filter (where cause = 'unsubscribed')::int as unsubscribed,
      count(*) filter (where cause = 'invalid')::int as invalid,
      count(*) filter (where cause = 'duplicate')::int as duplicate,
      (select count(*)::int from returned) as returned
    from checked`;
  return (await tx.row<ExpansionStepResult>(bounded(statement))) ?? emptyStep;
}

/**
 * Adds the messages of a step to the counters by domain. From here to the end of the transaction, other writers of the
 * campaign's counters wait.
 */
export async function addQueuedByDomain(
  tx: Queryable,
  workspaceId: WorkspaceId,
  campaignId: string,
  byDomain: string,
): Promise<void> {
  await tx.run(sql`
    insert into campaign_domains as d (workspace_id, campaign_id, domain, queued)
    select ${workspaceId}, ${campaignId}, key, value::int from json_each_text(${byDomain}::json)
    order by key collate "C"
    on conflict (workspace_id, campaign_id, domain) do update set queued = d.queued + excluded.queued`);
}

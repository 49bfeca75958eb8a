/**
 * The recipients of campaigns. A step of an expansion chooses the next people of the audience, in the order of their ids;
 * one statement leaves out whom mail may not reach, and makes recipient, log row and queue row of the others.
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

/** By what the people of an audience are judged. */
export interface EligibilityTerms {
  readonly listId: string | null;
  /** Of a campaign to a segment. */
  readonly segmentId: string | null;
  /** Whether the audience holds active members of the list alone: then nobody's status is looked up. */
  readonly isActive: boolean;
}

/** The people of a relation, each looked up by its id. */
const eachOf = (workspaceId: WorkspaceId, people: Sql): Sql => sql`
  (${withWorkspace(workspaceId, sql`${people} p`)}) p cross join lateral (
    select workspace_id, id, email, email_domain, status from subscribers
    where workspace_id = p.workspace and id = p.id offset 0) s`;

/** Those who were chosen, looked up in one walk over the index. */
const allOf = (workspaceId: WorkspaceId, { ids }: Chosen): Sql => sql`
  (${withWorkspace(workspaceId, sql`(select ${ids}::uuid[] as ids) c`)}) p cross join lateral (
    select workspace_id, id, email, email_domain, status from subscribers
    where workspace_id = p.workspace and id = any (p.ids) offset 0) s`;

/** People `s` (eachOf, allOf) with address, domain and their status on the list, or anywhere. */
function candidatesSql(people: Sql, { listId, segmentId, isActive }: EligibilityTerms): Sql {
  const statusThere = sql`(select m.status from memberships m
    where m.workspace_id = p.workspace and m.mailing_list_id = ${listId} and m.subscriber_id = s.id)`;
  return sql`
    select s.workspace_id, s.id as subscriber_id, s.email as address, s.email_domain as domain,
      ${isActive ? sql`'active'` : listId === null ? sql`s.status` : statusThere} as status,
      ${listId}::uuid as mailing_list_id, ${segmentId}::uuid as segment_id, false as is_platform
    from ${people}`;
}

/** How many of an audience have the status for mail; suppression is not looked at. */
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

/** Whether mail may reach anybody of an audience; taken for granted when nobody is found among the first `most`. */
export async function hasReachable(
  db: Queryable,
  workspaceId: WorkspaceId,
  people: Sql,
  terms: EligibilityTerms & { readonly most: number },
): Promise<boolean> {
  const first = sql`(select id from ${people} a limit ${terms.most})`;
  // Materialized: the status is found once, and only of those who are looked at.
  const found = await db.row(
    bounded(sql`
      with asked as materialized (${candidatesSql(eachOf(workspaceId, first), terms)})
      select from ${exclusionsSql(sql`asked`)} judged where cause is null limit 1`),
  );
  return found !== undefined || hasAtLeast(db, people, terms.most);
}

/** Whether an audience is of so many people, or of more. */
export async function hasAtLeast(db: Queryable, people: Sql, count: number): Promise<boolean> {
  const first = sql`(select id from ${people} a limit ${count})`;
  const looked = await db.row<{ count: number }>(bounded(sql`select count(*)::int as count from ${first} f`));
  return looked?.count === count;
}

/** Whether an audience goes on behind an id. */
export async function hasPeopleAfter(db: Queryable, people: Sql, after: string): Promise<boolean> {
  const found = await db.row(bounded(sql`select from ${people} a where id > ${after} limit 1`));
  return found !== undefined;
}

/** Members of a list who are not active, by what keeps mail from them. */
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
  /** Their ids, as PostgreSQL writes an array: they only go back to it. */
  readonly ids: string;
  /** How many; fewer than were asked for: nobody is left behind them. */
  readonly seen: number;
  /** The last of them; null when there is nobody. */
  readonly to: string | null;
}

/** At most so many of an audience, behind an id. */
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

/** Those who were chosen, as a relation with the column id. */
export const chosenSql = ({ ids }: Chosen): Sql => sql`(select unnest(${ids}::uuid[]) as id)`;

/** What a step of an expansion makes. */
export interface ExpansionStep extends EligibilityTerms, Omit<BulkMail, "workspaceId" | "source"> {
  readonly chosen: Chosen;
  /** People who cannot be written to, for a reason that is known already. */
  readonly unreachable: readonly string[];
}

export interface ExpansionStepResult extends Excluded {
  readonly added: number;
  /** How many of them each domain got, as a JSON object: for countDomains. */
  readonly by_domain: string;
  /** Left out because their address has a message of the campaign: its person was removed, and came back as a new one. */
  readonly duplicate: number;
  /** How many of those who were chosen came back, whether their address has a message yet or not. */
  readonly returned: number;
}

const nobody: ExpansionStepResult = {
  added: 0,
  by_domain: "{}",
  suppressed: 0,
  unsubscribed: 0,
  invalid: 0,
  duplicate: 0,
  returned: 0,
};

/**
 * In the transaction that moves the cursor. It writes rows of its own alone, so that the steps before and behind it wait
 * for nothing here.
 */
export async function insertRecipients(
  tx: Queryable,
  workspaceId: WorkspaceId,
  step: ExpansionStep,
): Promise<ExpansionStepResult> {
  const { originId } = step;
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
    ), judged as materialized (
      select subscriber_id, address, domain, case
          when cause is not null then cause
          when subscriber_id in (select subscriber_id from returned where has_message) then 'duplicate' end as cause
      from ${exclusionsSql(sql`asked`, step.unreachable)} j
    ), ${insertBulkMailSql(sql`(select subscriber_id, address, domain from judged where cause is null)`, {
      ...step,
      workspaceId,
      source: "campaign",
    })}, added as (
      insert into campaign_recipients (workspace_id, campaign_id, subscriber_id, message_id)
      select ${workspaceId}, ${originId}, subscriber_id, id from mail
    )
    select (select count(*)::int from mail) as added,
      (select coalesce(json_object_agg(domain, queued), '{}')::text from by_domain) as by_domain,
      count(*) filter (where cause = 'suppressed')::int as suppressed,
      count(*) filter (where cause = 'unsubscribed')::int as unsubscribed,
      count(*) filter (where cause = 'invalid')::int as invalid,
      count(*) filter (where cause = 'duplicate')::int as duplicate,
      (select count(*)::int from returned) as returned
    from judged`;
  return (await tx.row<ExpansionStepResult>(bounded(statement))) ?? nobody;
}

/**
 * Counts what a step has queued by domain. Everybody else who moves counters of the campaign waits from here to the end of
 * the transaction.
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

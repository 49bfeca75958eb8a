/**
 * The recipients of campaigns. A step of an expansion is one statement: it looks at the next people of the audience, in
 * the order of their ids, leaves out whom mail may not reach, and makes recipient, log row and queue row of the others.
 */
import sql, { join, type Sql } from "sql-template-tag";
import { bounded } from "../../../audience/segments/members-store.ts";
import { withWorkspace } from "../../../audience/subscribers/with-workspace.ts";
import type { Queryable } from "../../../platform/database/pool.ts";
import type { WorkspaceId } from "../../../platform/ids.ts";
import { judgedSql, type Making, makeMailSql } from "../../made-mail-store.ts";
import type { Excluded } from "./expansion-store.ts";

/** The active members of a list, as a relation with the column id. */
export const listMembersSql = (workspaceId: WorkspaceId, mailingListId: string): Sql => sql`(
  select subscriber_id as id from memberships
  where workspace_id = ${workspaceId} and mailing_list_id = ${mailingListId} and status = 'active')`;

/** Whoever is in any of these relations, each once. */
export function anyOfSql(relations: readonly Sql[]): Sql {
  if (relations.length === 0) return sql`(select null::uuid as id where false)`;
  const selects = relations.map((relation) => sql`select id from ${relation} r`);
  return sql`(${join(selects, " union ")})`;
}

/** By what the people of an audience are judged. */
export interface Terms {
  readonly listId: string | null;
  /** Of a campaign to a segment. */
  readonly segmentId: string | null;
  /** Whether the audience holds active members of the list alone: then nobody's status is looked up. */
  readonly isActive: boolean;
}

/** The people of a relation with address, domain and their status on the list, or anywhere. */
function askedSql(workspaceId: WorkspaceId, people: Sql, { listId, segmentId, isActive }: Terms): Sql {
  const statusThere = sql`(select m.status from memberships m
    where m.workspace_id = p.workspace and m.mailing_list_id = ${listId} and m.subscriber_id = s.id)`;
  return sql`
    select s.workspace_id, s.id as subscriber_id, s.email as address, s.email_domain as domain,
      ${isActive ? sql`'active'` : listId === null ? sql`s.status` : statusThere} as status,
      ${listId}::uuid as mailing_list_id, ${segmentId}::uuid as segment_id, false as is_platform
    from (${withWorkspace(workspaceId, sql`${people} p`)}) p cross join lateral (
      select workspace_id, id, email, email_domain, status from subscribers
      where workspace_id = p.workspace and id = p.id offset 0) s`;
}

/** How many of an audience have the status for mail; suppression is not looked at. */
export async function countMailable(
  db: Queryable,
  workspaceId: WorkspaceId,
  people: Sql,
  terms: Terms,
): Promise<number> {
  const row = await db.row<{ count: number }>(
    bounded(sql`
      select count(*)::int as count from (${askedSql(workspaceId, people, terms)}) asked
      where asked.status = 'active'`),
  );
  return row?.count ?? 0;
}

/** Whether mail may reach anybody of an audience; taken for granted when nobody is found among the first `most`. */
export async function mayReachAnybody(
  db: Queryable,
  workspaceId: WorkspaceId,
  people: Sql,
  terms: Terms & { readonly most: number },
): Promise<boolean> {
  const first = sql`(select id from ${people} a limit ${terms.most})`;
  // Materialized: the status is found once, and only of those who are looked at.
  const found = await db.row(
    bounded(sql`
      with asked as materialized (${askedSql(workspaceId, first, terms)})
      select from ${judgedSql(sql`asked`)} judged where cause is null limit 1`),
  );
  if (found !== undefined) return true;
  const looked = await db.row<{ count: number }>(bounded(sql`select count(*)::int as count from ${first} f`));
  return looked?.count === terms.most;
}

/** Whether an audience goes on behind an id. */
export async function isAnybodyBehind(db: Queryable, people: Sql, after: string): Promise<boolean> {
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

/** One step of an expansion. */
export interface Step extends Terms, Omit<Making, "workspaceId" | "source"> {
  readonly audience: Sql;
  /** People up to this id have been dealt with. */
  readonly after: string;
  /** People who cannot be written to, for a reason that is known already. */
  readonly unreachable: readonly string[];
}

export interface StepResult extends Excluded {
  /** People who were looked at; fewer than there were ids for: nobody is left. */
  readonly seen: number;
  /** The last of them; null when there was nobody. */
  readonly to: string | null;
  readonly added: number;
}

const nobody: StepResult = { seen: 0, to: null, added: 0, suppressed: 0, unsubscribed: 0, invalid: 0 };

/** In the transaction that moves the cursor. */
export async function insertRecipients(
  tx: Queryable,
  workspaceId: WorkspaceId,
  step: Step,
): Promise<StepResult> {
  const { originId } = step;
  const statement = sql`
    with page as materialized (
      select id from ${step.audience} a where id > ${step.after} order by id limit ${step.messageIds.length}
    ), asked as materialized (
      ${askedSql(workspaceId, sql`page`, step)}
    ), judged as materialized (
      select subscriber_id, address, domain, cause from ${judgedSql(sql`asked`, step.unreachable)} j
    ), ${makeMailSql(sql`(select subscriber_id, address, domain from judged where cause is null)`, {
      ...step,
      workspaceId,
      source: "campaign",
    })}, added as (
      insert into campaign_recipients (workspace_id, campaign_id, subscriber_id, message_id)
      select ${workspaceId}, ${originId}, subscriber_id, id from mail
    ), counted as (
      insert into campaign_domains as d (workspace_id, campaign_id, domain, queued)
      select ${workspaceId}, ${originId}, domain, queued from by_domain order by domain
      on conflict (workspace_id, campaign_id, domain) do update set queued = d.queued + excluded.queued
    )
    select (select count(*)::int from page) as seen, (select id from page order by id desc limit 1) as to,
      (select count(*)::int from mail) as added,
      count(*) filter (where cause = 'suppressed')::int as suppressed,
      count(*) filter (where cause = 'unsubscribed')::int as unsubscribed,
      count(*) filter (where cause = 'invalid')::int as invalid
    from judged`;
  return (await tx.row<StepResult>(bounded(statement))) ?? nobody;
}

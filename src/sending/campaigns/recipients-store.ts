/**
 * The recipients of campaigns. A step of an expansion is one statement: it looks at the next people of the audience, in
 * the order of their ids, leaves out whom mail may not reach, and makes recipient, log row and queue row of the others.
 */
import sql, { join, type Sql } from "sql-template-tag";
import { verdictOn } from "../../audience/suppression-lists/judge.ts";
import { enqueueAllSql } from "../../delivery/store.ts";
import { insertQueuedSql } from "../../messages/store.ts";
import type { Queryable } from "../../platform/database/pool.ts";
import type { WorkspaceId } from "../../platform/ids.ts";

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

/** Whether there is anybody in a relation. */
export async function isAnybodyIn(db: Queryable, relation: Sql): Promise<boolean> {
  const row = await db.row(sql`select from ${relation} a limit 1`);
  return row !== undefined;
}

/** Members of a list who are not active. */
export async function countInactive(
  db: Queryable,
  workspaceId: WorkspaceId,
  mailingListId: string,
): Promise<{ unsubscribed: number; suppressed: number }> {
  const counted = await db.row<{ unsubscribed: number; suppressed: number }>(sql`
    select unsubscribed, bounced + complained as suppressed from list_counters
    where workspace_id = ${workspaceId} and mailing_list_id = ${mailingListId}`);
  return counted ?? { unsubscribed: 0, suppressed: 0 };
}

/** One step of an expansion. */
export interface Step {
  readonly campaignId: string;
  readonly campaignName: string;
  readonly subject: string;
  readonly fromEmail: string;
  /** Characters of the content. */
  readonly bytes: number;
  readonly audience: Sql;
  readonly listId: string | null;
  /** Whether the audience holds active members of the list alone: then nobody's status is looked up. */
  readonly isActive: boolean;
  readonly segmentId: string | null;
  /** People up to this id have been dealt with. */
  readonly after: string;
  /** Ids for the messages, as many as people are looked at; ascending. */
  readonly messageIds: readonly string[];
  readonly now: Date;
  readonly expiresAt: Date;
}

export interface StepResult {
  /** People who were looked at; fewer than there were ids for: nobody is left. */
  readonly seen: number;
  /** The last of them; null when there was nobody. */
  readonly to: string | null;
  readonly added: number;
  readonly suppressed: number;
  readonly unsubscribed: number;
  readonly invalid: number;
}

const nobody: StepResult = { seen: 0, to: null, added: 0, suppressed: 0, unsubscribed: 0, invalid: 0 };

/** In the transaction that holds the campaign and moves its cursor. */
export async function insertRecipients(
  tx: Queryable,
  workspaceId: WorkspaceId,
  step: Step,
): Promise<StepResult> {
  const { campaignId, listId, segmentId, messageIds, now } = step;
  const status = step.isActive ? sql`'active'` : statusOn(workspaceId, listId);
  const row = await tx.row<StepResult>(sql`
    with page as materialized (
      select id from ${step.audience} a where id > ${step.after} order by id limit ${messageIds.length}
    ), asked as materialized (
      select s.workspace_id, s.id, s.email as address, s.email_domain as domain, ${status} as status,
        ${listId}::uuid as mailing_list_id, ${segmentId}::uuid as segment_id, false as is_platform
      from page join subscribers s on s.workspace_id = ${workspaceId} and s.id = page.id
    ), judged as materialized (
      select asked.id, asked.address, asked.domain, case
          when asked.status = 'unsubscribed' then 'unsubscribed'
          when asked.status <> 'active' or verdict.reason is not null then 'suppressed'
          when asked.domain not like '%_.%_' then 'invalid' end as cause
      from asked left join ${verdictOn(sql`asked`)} as verdict on true
    ), added as (
      insert into campaign_recipients (workspace_id, campaign_id, subscriber_id, message_id)
      select ${workspaceId}, ${campaignId}, id, message_id
      from (select id, row_number() over (order by id) as position from judged where cause is null) j
      join unnest(${messageIds}::uuid[]) with ordinality as i (message_id, position) using (position)
      order by id
      returning subscriber_id, message_id
    ), mail as materialized (
      select a.message_id as id, split_part(j.address, '@', 1) as localpart, j.domain
      from added a join judged j on j.id = a.subscriber_id
    ), log as (
      ${insertQueuedSql(sql`mail`, {
        workspaceId,
        source: "campaign",
        originId: campaignId,
        originName: step.campaignName,
        fromEmail: step.fromEmail,
        subject: step.subject,
        createdAt: now,
      })}
    ), queue as (
      ${enqueueAllSql(sql`mail`, {
        workspaceId,
        campaignId,
        priority: 1,
        bytes: step.bytes,
        expiresAt: step.expiresAt,
      })}
    ), counted as (
      insert into campaign_domains as d (workspace_id, campaign_id, domain, queued)
      select ${workspaceId}, ${campaignId}, domain, count(*) from mail group by domain order by domain
      on conflict (workspace_id, campaign_id, domain) do update set queued = d.queued + excluded.queued
    )
    select (select count(*)::int from page) as seen, (select id from page order by id desc limit 1) as to,
      (select count(*)::int from mail) as added,
      count(*) filter (where cause = 'suppressed')::int as suppressed,
      count(*) filter (where cause = 'unsubscribed')::int as unsubscribed,
      count(*) filter (where cause = 'invalid')::int as invalid
    from judged`);
  return row ?? nobody;
}

/** Of the person `s`: on the list, or anywhere. */
function statusOn(workspaceId: WorkspaceId, listId: string | null): Sql {
  if (listId === null) return sql`s.status`;
  return sql`(select m.status from memberships m
    where m.workspace_id = ${workspaceId} and m.mailing_list_id = ${listId} and m.subscriber_id = s.id)`;
}

/**
 * The mails of autoresponders. A step's turn is one statement: it takes the next people who are due, leaves out whom mail
 * may not reach any more, makes the mail's row, log row and queue row of the others, and moves everybody on.
 */
import sql from "sql-template-tag";
import { verdictOn } from "../../audience/suppression-lists/judge.ts";
import { enqueueAllSql } from "../../delivery/store.ts";
import { insertQueuedSql } from "../../messages/store.ts";
import type { Queryable } from "../../platform/database/pool.ts";
import type { WorkspaceId } from "../../platform/ids.ts";
import { takeMadeSql } from "../allowance.ts";
import type { DueStep, Working } from "./runs-store.ts";

export interface Turn {
  readonly autoresponder: Working;
  readonly step: DueStep;
  /** Ids for the messages, as many as people are taken; ascending. */
  readonly messageIds: readonly string[];
  readonly now: Date;
  readonly expiresAt: Date;
}

/** In the transaction that holds the autoresponder. */
export async function insertMails(tx: Queryable, workspaceId: WorkspaceId, turn: Turn): Promise<void> {
  const { autoresponder, step, messageIds, now } = turn;
  const { id } = autoresponder;
  const ownNow = sql`(
    select ${now}::timestamptz - stood_still from autoresponders where workspace_id = ${workspaceId} and id = ${id})`;
  await tx.run(sql`
    with due as materialized (
      select subscriber_id, occasion, member_since, generation from autoresponder_runs
      where workspace_id = ${workspaceId} and autoresponder_id = ${id} and due_at <= ${ownNow}
        and next_step_id = ${step.id}
      order by due_at limit ${messageIds.length} for update skip locked
    ), asked as materialized (
      select s.workspace_id, s.id, s.email as address, s.email_domain as domain, due.occasion,
        ${autoresponder.mailing_list_id}::uuid as mailing_list_id, null::uuid as segment_id, false as is_platform
      from due
      -- Series of an earlier generation are over.
      join subscribers s on s.workspace_id = ${workspaceId} and s.id = due.subscriber_id
        and due.generation = ${autoresponder.generation}
      join memberships m on m.workspace_id = ${workspaceId} and m.mailing_list_id = ${autoresponder.mailing_list_id}
        and m.subscriber_id = due.subscriber_id and m.status = 'active' and m.subscribed_at = due.member_since
    ), judged as materialized (
      select asked.id, asked.occasion, asked.address, asked.domain, row_number() over (order by asked.id) as position
      from asked left join ${verdictOn(sql`asked`)} as verdict on true
      where verdict.reason is null and asked.domain like '%_.%_'
    ), added as (
      -- Whoever has had the step already, before the steps were put into another order, goes on without it.
      insert into autoresponder_mails (workspace_id, autoresponder_id, subscriber_id, occasion, step_id, message_id, content_id)
      select ${workspaceId}, ${id}, j.id, j.occasion, ${step.id}, i.message_id, ${step.content_id}
      from judged j join unnest(${messageIds}::uuid[]) with ordinality as i (message_id, position) using (position)
      order by j.id
      on conflict (workspace_id, autoresponder_id, subscriber_id, occasion, step_id) do nothing
      returning subscriber_id, occasion, message_id
    ), mail as materialized (
      select a.message_id as id, split_part(j.address, '@', 1) as localpart, j.domain
      from added a join judged j on j.id = a.subscriber_id and j.occasion = a.occasion
    ), log as (
      ${insertQueuedSql(sql`mail`, {
        workspaceId,
        source: "autoresponder",
        originId: id,
        originName: autoresponder.name,
        fromEmail: autoresponder.from_email,
        subject: step.subject,
        createdAt: now,
      })}
    ), queue as (
      ${enqueueAllSql(sql`mail`, {
        workspaceId,
        campaignId: id,
        priority: 1,
        bytes: step.bytes,
        expiresAt: turn.expiresAt,
      })}
    ), counted as (
      update autoresponder_counters set queued = queued + (select count(*) from mail)
      where workspace_id = ${workspaceId} and autoresponder_id = ${id}
    ), meter as (
      ${takeMadeSql(workspaceId, now)}
    )
    update autoresponder_runs r
    set next_step_id = next.id, due_at = ${ownNow} + make_interval(mins => next.delay_minutes)
    from due
    left join judged j on j.id = due.subscriber_id and j.occasion = due.occasion
    left join lateral (
      select s.id, s.delay_minutes from autoresponder_steps s
      where j.id is not null and s.workspace_id = ${workspaceId} and s.autoresponder_id = ${id}
        and s.position > ${step.position}
        and not exists (
          select from autoresponder_mails m
          where m.workspace_id = ${workspaceId} and m.autoresponder_id = ${id} and m.subscriber_id = due.subscriber_id
            and m.occasion = due.occasion and m.step_id = s.id)
      order by s.position limit 1) next on true
    where r.workspace_id = ${workspaceId} and r.autoresponder_id = ${id} and r.subscriber_id = due.subscriber_id
      and r.occasion = due.occasion`);
}

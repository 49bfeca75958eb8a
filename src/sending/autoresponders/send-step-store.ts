/**
 * Sends one step of an autoresponder to the people for whom it is due, in one statement: it takes the next due runs, leaves
 * out people who get no mail, inserts mail row, log row and queue row for the others, and moves all runs to their next step.
 */
import sql from "sql-template-tag";
import { withWorkspace } from "#audience/subscribers/memberships/planner-hints.ts";
import type { Queryable } from "#platform/database/pool.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import { exclusionsSql, insertBulkMailSql } from "#sending/acceptance/bulk-mail-store.ts";
import type { DueStep, LockedAutoresponder } from "./runs-store.ts";

export interface StepBatch {
  readonly autoresponder: LockedAutoresponder;
  readonly step: DueStep;
  /** One id for each run that may be taken; ascending. */
  readonly messageIds: readonly string[];
  readonly now: Date;
  readonly expiresAt: Date;
}

/** Runs in the transaction that has locked the autoresponder. */
export async function insertStepMails(
  tx: Queryable,
  workspaceId: WorkspaceId,
  batch: StepBatch,
): Promise<void> {
  const { autoresponder, step, messageIds, now } = batch;
  const { id } = autoresponder;
  const ownNow = sql`(
    select ${now}::timestamptz - stood_still from autoresponders where workspace_id = ${workspaceId} and id = ${id})`;
  await tx.run(sql`
    with due as materialized (
      select ctid as place, subscriber_id, occasion, member_since, generation from autoresponder_runs
      where workspace_id = ${workspaceId} and autoresponder_id = ${id} and due_at <= ${ownNow}
        and next_step_id = ${step.id}
      order by due_at limit ${messageIds.length} for update skip locked
    ), asked as materialized (
      select d.place, d.subscriber_id, d.occasion, d.workspace as workspace_id, s.email as address,
        s.email_domain as domain, coalesce(m.status, 'unsubscribed') as status,
        ${autoresponder.mailing_list_id}::uuid as mailing_list_id, null::uuid as segment_id, false as is_platform
      from (${withWorkspace(workspaceId, sql`due`)}) d
      left join lateral (
        select email, email_domain from subscribers where workspace_id = d.workspace and id = d.subscriber_id
        offset 0) s on true
      -- A run of an earlier generation ends.
      left join lateral (
        select status from memberships
        where workspace_id = d.workspace and mailing_list_id = ${autoresponder.mailing_list_id}
          and subscriber_id = d.subscriber_id and status = 'active' and subscribed_at = d.member_since
        offset 0) m on d.generation = ${autoresponder.generation}
    ), checked as materialized (
      select j.*, had.it from ${exclusionsSql(sql`asked`)} j
      -- A person who got this step before the steps were reordered skips it.
      left join lateral (
        select true as it from autoresponder_mails
        where workspace_id = j.workspace_id and autoresponder_id = ${id} and subscriber_id = j.subscriber_id
          and occasion = j.occasion and step_id = ${step.id}
        offset 0) had on true
    ), ${insertBulkMailSql(
      sql`(select subscriber_id, occasion, address, domain from checked where cause is null and it is null)`,
      {
        workspaceId,
        source: "autoresponder",
        originId: id,
        originName: autoresponder.name,
        fromEmail: autoresponder.from_email,
        subject: step.subject,
        bytes: step.bytes,
        messageIds,
        createdAt: now,
        expiresAt: batch.expiresAt,
      },
      { mail: sql`mail`, byDomain: sql`by_domain` },
    )}, added as (
      insert into autoresponder_mails
        (workspace_id, autoresponder_id, subscriber_id, occasion, step_id, message_id, content_id)
      select ${workspaceId}, ${id}, subscriber_id, occasion, ${step.id}, id, ${step.content_id} from mail
    ), counted as (
      update autoresponder_counters set queued = queued + (select count(*) from mail)
      where workspace_id = ${workspaceId} and autoresponder_id = ${id}
      returning true
    ), step_counted as (
      -- Reads "counted", so that all transactions lock the counters of the autoresponder first.
      insert into autoresponder_step_counters as n (workspace_id, step_id, autoresponder_id, queued)
      select ${workspaceId}, ${step.id}, ${id}, (select count(*) from mail) from counted
      on conflict (workspace_id, step_id) do update set queued = n.queued + excluded.queued
    )
    update autoresponder_runs r
    set next_step_id = next.id, due_at = ${ownNow} + make_interval(mins => next.delay_minutes)
    from checked j
    left join lateral (
      select s.id, s.delay_minutes from autoresponder_steps s
      where j.cause is null and s.workspace_id = j.workspace_id and s.autoresponder_id = ${id}
        and s.position > ${step.position}
        and not exists (
          select from autoresponder_mails m
          where m.workspace_id = j.workspace_id and m.autoresponder_id = ${id} and m.subscriber_id = j.subscriber_id
            and m.occasion = j.occasion and m.step_id = s.id)
      order by s.position limit 1) next on true
    where r.ctid = j.place`);
}

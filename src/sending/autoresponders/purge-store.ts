/** The SQL of purge.ts: removes finished runs, mails that have left the message log, unused contents, and counters. */
import sql from "sql-template-tag";
import type { Queryable } from "#platform/database/pool.ts";
import { nilId, type WorkspaceId } from "#platform/ids.ts";
import type { RunPage } from "./runs-store.ts";

/** An autoresponder that may have rows to purge. */
export interface PurgeableAutoresponder {
  readonly workspace_id: WorkspaceId;
  readonly id: string;
  readonly is_deleted: boolean;
}

/**
 * Over all workspaces: deleted autoresponders, and those of workspaces whose oldest autoresponder mail has left the log, or
 * that have none.
 */
export function listPurgeableAutoresponders(db: Queryable): Promise<PurgeableAutoresponder[]> {
  return db.rows(sql`
    select n.workspace_id, n.autoresponder_id as id, a.id is null as is_deleted
    from autoresponder_counters n
    left join autoresponders a on a.workspace_id = n.workspace_id and a.id = n.autoresponder_id
    where a.id is null or not exists (
      select from (
        select workspace_id, message_id from autoresponder_mails o
        where o.workspace_id = n.workspace_id order by message_id limit 1) oldest
      join messages m on m.workspace_id = oldest.workspace_id and m.id = oldest.message_id)`);
}

/** Deletes up to `most` runs of a deleted autoresponder; returns how many. */
export function removeRunsOfDeleted(
  db: Queryable,
  { workspace_id, id }: PurgeableAutoresponder,
  most: number,
): Promise<number> {
  return db.run(sql`
    delete from autoresponder_runs where ctid = any (array(
      select ctid from autoresponder_runs where workspace_id = ${workspace_id} and autoresponder_id = ${id}
      limit ${most}))`);
}

/** A page of mails, and the people whose mails were deleted, each once. */
export interface ForgottenMails extends RunPage {
  readonly people: readonly string[];
}

/**
 * Deletes, among the next `limit` mails, those whose message is not in the log. Mails of an unfinished run are kept, because
 * they prevent a step from being sent twice. @param after the `last` of the page before
 */
export async function removeForgottenMails(
  db: Queryable,
  { workspace_id, id }: PurgeableAutoresponder,
  after: string | null,
  limit: number,
): Promise<ForgottenMails> {
  const [person = nilId, occasion = "-infinity", step = nilId] = after?.split("/") ?? [];
  const row = await db.row<ForgottenMails>(sql`
    with page as materialized (
      select ctid as place, workspace_id, subscriber_id, occasion, step_id, message_id from autoresponder_mails
      where workspace_id = ${workspace_id} and autoresponder_id = ${id}
        and (subscriber_id, occasion, step_id) > (${person}::uuid, ${occasion}::timestamptz, ${step}::uuid)
      order by subscriber_id, occasion, step_id limit ${limit}
    ), gone as (
      delete from autoresponder_mails where ctid = any (array(
        select p.place from page p
        left join lateral (
          select true as it from messages m where m.workspace_id = p.workspace_id and m.id = p.message_id
          offset 0) logged on true
        left join lateral (
          select true as it from autoresponder_runs r
          where r.workspace_id = p.workspace_id and r.autoresponder_id = ${id} and r.subscriber_id = p.subscriber_id
            and r.occasion = p.occasion and r.due_at is not null offset 0) going on true
        where logged.it is null and going.it is null))
      returning subscriber_id
    )
    select (select count(*)::int from page) as seen, array(select distinct subscriber_id from gone) as people, (
      select subscriber_id || '/' || occasion || '/' || step_id from page
      order by subscriber_id desc, occasion desc, step_id desc limit 1) as last`);
  return row ?? { seen: 0, last: null, people: [] };
}

/**
 * Deletes, among the next `limit` runs of an existing autoresponder, those that are finished and have no mail left, if they
 * are so old that no scan starts them again. @param after the `last` of the page before
 */
export async function removeFinishedRuns(
  db: Queryable,
  { workspace_id, id }: PurgeableAutoresponder,
  after: string | null,
  limit: number,
  now: Date,
): Promise<RunPage> {
  const [person = nilId, occasion = "-infinity"] = after?.split("/") ?? [];
  const row = await db.row<RunPage>(sql`
    with page as materialized (
      select ctid as place, workspace_id, subscriber_id, occasion, due_at from autoresponder_runs
      where workspace_id = ${workspace_id} and autoresponder_id = ${id}
        and (subscriber_id, occasion) > (${person}::uuid, ${occasion}::timestamptz)
      order by subscriber_id, occasion limit ${limit}
    ), gone as (
      delete from autoresponder_runs where due_at is null and ctid = any (array(
        select p.place from page p
        join autoresponders a on a.workspace_id = p.workspace_id and a.id = ${id}
          and p.occasion < least(case when a.trigger_type = 'subscribed' then a.scanned_to - interval '1 hour' end,
            ${now}::timestamptz - interval '3 days')
        left join lateral (
          select true as it from autoresponder_mails m
          where m.workspace_id = p.workspace_id and m.autoresponder_id = ${id} and m.subscriber_id = p.subscriber_id
            and m.occasion = p.occasion limit 1) mailed on true
        where p.due_at is null and mailed.it is null))
    )
    select (select count(*)::int from page) as seen, (
      select subscriber_id || '/' || occasion from page order by subscriber_id desc, occasion desc limit 1) as last`);
  return row ?? { seen: 0, last: null };
}

/** Deletes up to `most` contents, with their links, that no step and no mail uses; returns how many. */
export function removeUnusedContents(
  db: Queryable,
  { workspace_id, id }: PurgeableAutoresponder,
  most: number,
): Promise<number> {
  return db.run(sql`
    with unused as materialized (
      select c.workspace_id, c.id from autoresponder_contents c
      where c.workspace_id = ${workspace_id} and c.autoresponder_id = ${id}
        and not exists (
          select from autoresponder_steps s
          where s.workspace_id = c.workspace_id and s.autoresponder_id = c.autoresponder_id and s.content_id = c.id
            and s.position is not null)
        and not exists (
          select from autoresponder_mails m where m.workspace_id = c.workspace_id and m.content_id = c.id)
      limit ${most}
    ), links as (
      delete from autoresponder_links l using unused u where l.workspace_id = u.workspace_id and l.content_id = u.id
    )
    delete from autoresponder_contents c using unused u where c.workspace_id = u.workspace_id and c.id = u.id`);
}

/** Deletes the counters of a deleted autoresponder without mails, and of its steps. They go last: the purge finds it by them. */
export async function removeCountersOfDeleted(
  db: Queryable,
  { workspace_id, id }: PurgeableAutoresponder,
): Promise<void> {
  await db.run(sql`
    with gone as (
      delete from autoresponder_counters n
      where n.workspace_id = ${workspace_id} and n.autoresponder_id = ${id} and not exists (
        select from autoresponder_mails m
        where m.workspace_id = n.workspace_id and m.autoresponder_id = n.autoresponder_id)
      returning n.workspace_id, n.autoresponder_id
    )
    delete from autoresponder_step_counters s using gone g
    where s.workspace_id = g.workspace_id and s.autoresponder_id = g.autoresponder_id`);
}

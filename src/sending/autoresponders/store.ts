/** The table of autoresponders: reading, creating, replacing, activating and deleting. */
import sql, { empty, type Sql } from "sql-template-tag";
import { insertOriginName } from "#messages/deleted-origins-store.ts";
import type { Page } from "#platform/database/page.ts";
import type { Queryable } from "#platform/database/pool.ts";
import type { WorkspaceRowLimit } from "#platform/database/row-limit-store.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import type { AutoresponderStatus, AutoresponderSummary } from "./autoresponder.ts";
import type { AutoresponderSettings } from "./read-autoresponder-body.ts";
import { unseenTimes } from "./runs-store.ts";

/** The limit exists because each active autoresponder is checked every few seconds. */
export const autoresponderRoom: WorkspaceRowLimit = {
  table: sql`autoresponders`,
  what: "autoresponders",
  most: 200,
};

const summary = sql`
  a.id, a.name, a.status, a.mailing_list_id, l.name as mailing_list_name, a.from_email, a.from_name, a.reply_to,
  a.enable_open_tracking, a.enable_click_tracking,
  json_strip_nulls(json_build_object('type', a.trigger_type, 'field', a.date_field,
    'yearly', case when a.trigger_type = 'date' then a.is_yearly end, 'at', a.at)) as trigger,
  (select count(*)::int from autoresponder_steps s
    where s.workspace_id = a.workspace_id and s.autoresponder_id = a.id and s.position is not null) as step_count,
  a.activated_at, a.deactivated_at, a.deactivation_reason, a.waiting_reason, n.sent as sent_count,
  n.delivered + n.complained as delivered_count, n.opens as open_count, n.unique_opens as unique_open_count,
  n.clicks as click_count, n.unique_clicks as unique_click_count, n.bounced as bounce_count,
  n.complained as complaint_count, n.unsubscribed as unsubscribe_count, n.failed as failed_count,
  a.created_at, a.updated_at`;

const autoresponders = sql`
  from autoresponders a
  join autoresponder_counters n on n.workspace_id = a.workspace_id and n.autoresponder_id = a.id
  left join mailing_lists l on l.workspace_id = a.workspace_id and l.id = a.mailing_list_id`;

export interface AutoresponderFilter {
  readonly status?: AutoresponderStatus | undefined;
}

const matching = (workspaceId: WorkspaceId, { status }: AutoresponderFilter): Sql => sql`
  a.workspace_id = ${workspaceId} ${status === undefined ? empty : sql`and a.status = ${status}`}`;

/** Newest first. */
export function listAutoresponders(
  db: Queryable,
  workspaceId: WorkspaceId,
  filter: AutoresponderFilter,
  page: Page,
): Promise<AutoresponderSummary[]> {
  return db.rows(sql`
    select ${summary} ${autoresponders} where ${matching(workspaceId, filter)}
    order by a.created_at desc, a.id desc limit ${page.limit} offset ${page.offset}`);
}

export async function countAutoresponders(
  db: Queryable,
  workspaceId: WorkspaceId,
  filter: AutoresponderFilter,
): Promise<number> {
  const row = await db.row<{ total: number }>(sql`
    select count(*) as total from autoresponders a where ${matching(workspaceId, filter)}`);
  return row?.total ?? 0;
}

export function findAutoresponder(
  db: Queryable,
  workspaceId: WorkspaceId,
  id: string,
): Promise<AutoresponderSummary | undefined> {
  return db.row(
    sql`select ${summary} ${autoresponders} where a.workspace_id = ${workspaceId} and a.id = ${id}`,
  );
}

const since = (moment: Date) => sql`tstzmultirange(tstzrange(${moment}, null))`;

/** An autoresponder as a change needs it. */
export interface AutoresponderForUpdate extends AutoresponderSettings {
  readonly id: string;
  readonly status: AutoresponderStatus;
  /** Null while it is active, and before its first activation. */
  readonly deactivated_at: Date | null;
  /** The newest day that was processed, `YYYY-MM-DD`; null without a date trigger. */
  readonly day_done: string | null;
}

/** Locks the row: no other transaction changes it or sends its mail before this one ends. */
export function lockAutoresponder(
  tx: Queryable,
  workspaceId: WorkspaceId,
  id: string,
): Promise<AutoresponderForUpdate | undefined> {
  return tx.row(sql`
    select id, status, deactivated_at, day_done::text as day_done, name, mailing_list_id, from_email, from_name, reply_to,
      enable_open_tracking, enable_click_tracking, trigger_type, date_field, is_yearly, at
    from autoresponders where workspace_id = ${workspaceId} and id = ${id} for no key update`);
}

export async function insertAutoresponder(
  tx: Queryable,
  workspaceId: WorkspaceId,
  { id, ...given }: AutoresponderSettings & { readonly id: string },
  now: Date,
): Promise<void> {
  await tx.run(sql`
    with counters as (
      insert into autoresponder_counters (workspace_id, autoresponder_id) values (${workspaceId}, ${id})
    )
    insert into autoresponders (workspace_id, id, name, mailing_list_id, from_email, from_name, reply_to,
      enable_open_tracking, enable_click_tracking, trigger_type, date_field, is_yearly, at, created_at, updated_at)
    values (${workspaceId}, ${id}, ${given.name}, ${given.mailing_list_id}, ${given.from_email}, ${given.from_name},
      ${given.reply_to}, ${given.enable_open_tracking}, ${given.enable_click_tracking}, ${given.trigger_type},
      ${given.date_field}, ${given.is_yearly}, ${given.at}, ${now}, ${now})`);
}

/**
 * Runs in the transaction that has locked the autoresponder.
 * @param beginsAnew whether all runs in progress end, and only people who join from now on get the series
 */
export async function updateAutoresponder(
  tx: Queryable,
  workspaceId: WorkspaceId,
  { id, ...given }: AutoresponderSettings & { readonly id: string },
  {
    beginsAnew,
    dayDone,
    now,
  }: { readonly beginsAnew: boolean; readonly dayDone: string | null; readonly now: Date },
): Promise<void> {
  await tx.run(sql`
    update autoresponders
    set name = ${given.name}, mailing_list_id = ${given.mailing_list_id}, from_email = ${given.from_email},
      from_name = ${given.from_name}, reply_to = ${given.reply_to},
      enable_open_tracking = ${given.enable_open_tracking}, enable_click_tracking = ${given.enable_click_tracking},
      trigger_type = ${given.trigger_type}, date_field = ${given.date_field}, is_yearly = ${given.is_yearly},
      at = ${given.at}, day_done = ${dayDone}::date, updated_at = ${now},
      generation = generation + ${Number(beginsAnew)},
      active_times = case
        when not ${beginsAnew} then active_times when status = 'active' then ${since(now)} else '{}' end,
      scanned_to = case when ${beginsAnew} then ${now} else scanned_to end
    where workspace_id = ${workspaceId} and id = ${id}`);
}

/**
 * Activates an autoresponder. Its own time and its scan for new members continue from where they stopped.
 * @returns false when it was already active
 */
export async function activateAutoresponder(
  tx: Queryable,
  workspaceId: WorkspaceId,
  id: string,
  dayDone: string | null,
  now: Date,
): Promise<boolean> {
  // With a date trigger there is no scan for new members: only the active period from now on is kept.
  const scannedTo = sql`coalesce(case when trigger_type = 'subscribed' then scanned_to end, ${now})`;
  const count = await tx.run(sql`
    update autoresponders a
    set status = 'active', activated_at = ${now}, scanned_to = ${scannedTo},
      active_times = ${unseenTimes} + ${since(now)},
      stood_still = stood_still + coalesce(${now}::timestamptz - deactivated_at, '0'), day_done = ${dayDone}::date,
      deactivated_at = null, deactivation_reason = null, updated_at = ${now}
    where workspace_id = ${workspaceId} and id = ${id} and status = 'inactive'`);
  return count > 0;
}

/** Why the service deactivates an autoresponder. It applies only while the autoresponder has this sender or content. */
export type DeactivationCause =
  | { readonly reason: "sender_not_verified"; readonly fromEmail: string }
  | { readonly reason: "content_invalid"; readonly contentId: string };

const stillApplies = (cause: DeactivationCause): Sql =>
  cause.reason === "sender_not_verified"
    ? sql`from_email = ${cause.fromEmail}`
    : hasContentSql(cause.contentId);

/** Whether a step of the autoresponder `a` has this content. */
const hasContentSql = (contentId: string): Sql => sql`exists (
  select from autoresponder_steps s
  where s.workspace_id = a.workspace_id and s.autoresponder_id = a.id and s.content_id = ${contentId}
    and s.position is not null)`;

/** Whether a step of the autoresponder still has this content. */
export async function hasContent(
  db: Queryable,
  workspaceId: WorkspaceId,
  id: string,
  contentId: string,
): Promise<boolean> {
  const found = await db.row(sql`
    select from autoresponders a where workspace_id = ${workspaceId} and id = ${id} and ${hasContentSql(contentId)}`);
  return found !== undefined;
}

/** @param cause null when a person deactivates it @returns false when it was not active, or the cause no longer applies */
export async function deactivateAutoresponder(
  db: Queryable,
  workspaceId: WorkspaceId,
  id: string,
  cause: DeactivationCause | null,
  now: Date,
): Promise<boolean> {
  const count = await db.run(sql`
    update autoresponders a
    set status = 'inactive', active_times = active_times * tstzmultirange(tstzrange(null, ${now}, '[]')),
      deactivated_at = ${now}, deactivation_reason = ${cause?.reason ?? null},
      waiting_reason = null, updated_at = ${now}
    where workspace_id = ${workspaceId} and id = ${id} and status = 'active'
      ${cause === null ? empty : sql`and ${stillApplies(cause)}`}`);
  return count > 0;
}

/**
 * Deletes an autoresponder with its steps. Its runs are purged in the background, its mail rows when the messages leave the
 * log (purge.ts): until then links and pages work.
 * @returns false when it does not exist
 */
export async function removeAutoresponder(
  tx: Queryable,
  workspaceId: WorkspaceId,
  id: string,
): Promise<boolean> {
  const removed = await tx.row<{ id: string; name: string }>(sql`
    delete from autoresponders where workspace_id = ${workspaceId} and id = ${id} returning id, name`);
  if (removed) await insertOriginName(tx, workspaceId, "autoresponder", removed);
  await tx.run(sql`
    delete from autoresponder_steps where workspace_id = ${workspaceId} and autoresponder_id = ${id}`);
  return removed !== undefined;
}

/**
 * The autoresponders with queued mail that must not be sent. Mail of `paused` ones stays in the queue; mail of `cancelled`
 * ones is leased so that it ends as cancelled. Leased messages of both are not sent.
 */
export async function listStoppedAutoresponders(
  db: Queryable,
): Promise<{ paused: string[]; cancelled: string[] }> {
  const rows = await db.rows<{ id: string; is_deleted: boolean }>(
    sql`
    select a.id, false as is_deleted from autoresponders a
    where status = 'inactive' and activated_at is not null
      and exists (select from delivery_queue q where q.priority = 1 and q.campaign_id = a.id)
    union all
    select n.autoresponder_id, a.id is null from autoresponder_counters n
    left join workspaces w on w.id = n.workspace_id
    left join autoresponders a on a.workspace_id = n.workspace_id and a.id = n.autoresponder_id
    where n.queued + n.deferred > 0 and (a.id is null or w.is_suspended)`,
    "stopped autoresponders",
  );
  const of = (isDeleted: boolean) =>
    rows.filter(({ is_deleted }) => is_deleted === isDeleted).map(({ id }) => id);
  return { paused: of(false), cancelled: of(true) };
}

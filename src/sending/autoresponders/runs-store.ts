/**
 * Runs of autoresponders: one row for each person who goes through a series, with the next step and when it is due. Due
 * times are in the autoresponder's own time, which does not advance while it is inactive (`stood_still` is the total time it
 * was inactive). Every statement here is bounded and may be repeated: a run is unique by person and `occasion`, the time
 * that triggered it.
 */
import sql, { type Sql } from "sql-template-tag";
import { withWorkspace } from "#audience/subscribers/memberships/planner-hints.ts";
import type { Queryable } from "#platform/database/pool.ts";
import { nilId, type WorkspaceId } from "#platform/ids.ts";
import type { AutoresponderSummary } from "./autoresponder.ts";
import type { AutoresponderSettings } from "./read-autoresponder-body.ts";
import { daysOfYear } from "./trigger-days.ts";

/**
 * A membership may become visible later than its timestamp, because its transaction was open that long or clocks differ.
 * The first scan of each minute goes back by LATE; the others go back by USUAL, because scans that always went back by LATE
 * would read a large import again and again.
 */
const LATE = sql`interval '10 minutes'`;
const USUAL = sql`interval '30 seconds'`;
const isFirstOfMinute = (now: Date) =>
  sql`date_trunc('minute', a.scanned_to) < date_trunc('minute', ${now}::timestamptz)`;

/** An active autoresponder that may have something due. */
export interface DueAutoresponder {
  readonly workspace_id: WorkspaceId;
  readonly id: string;
  readonly at: string | null;
  readonly day_done: string | null;
  readonly timezone: string;
  readonly has_joined: boolean;
  readonly has_due: boolean;
  /** Whether the first scan of the minute found no one. */
  readonly is_idle: boolean;
}

const ownTime = (now: Date) => sql`(${now}::timestamptz - a.stood_still)`;
/** The own time of an active autoresponder at a moment, which may lie before an inactive period. */
const ownTimeAt = (moment: Sql) => sql`(${moment} - a.stood_still + coalesce((
  select sum(upper(pause) - lower(pause))
  from unnest(tstzmultirange(tstzrange(${moment}, null)) - a.active_times) pause), '0'))`;
const activeSince = (moment: Sql) => sql`(a.active_times * tstzmultirange(tstzrange(${moment}, null)))`;
/** The active periods that a scan may still go through. */
export const unseenTimes = activeSince(sql`a.scanned_to - ${LATE}`);
/**
 * Memberships `m` that may start a run, one active period after the other: people who joined while it was inactive, maybe a
 * million, are not read. The order of the index keeps the planner from an index over the whole list.
 * @param began when the scan began
 * @param most limit for each period
 */
const joinedSql = (began: Date, condition: Sql, most: number) => sql`
  unnest(${activeSince(sql`a.scanned_to - case when ${isFirstOfMinute(began)} then ${LATE} else ${USUAL} end`)}) stretch
  cross join lateral (
    select m.subscriber_id, m.subscribed_at, m.status from memberships m
    where m.workspace_id = a.workspace_id and m.mailing_list_id = a.mailing_list_id and not m.is_quiet
      and m.subscribed_at between lower(stretch) and coalesce(upper(stretch), 'infinity') and ${condition}
    order by m.subscribed_at, m.subscriber_id limit ${most}) m`;
/** A subquery for each membership: as a join, with old statistics, the planner read all runs for each. */
const isNew = sql`(m.status = 'active' and not exists (
  select from (
    select from autoresponder_runs r
    where r.workspace_id = a.workspace_id and r.autoresponder_id = a.id and r.subscriber_id = m.subscriber_id
      and r.occasion = m.subscribed_at offset 0) run))`;
/** The step that has been due for the longest time. Without the order the planner may read all waiting runs. */
const dueStepSql = (now: Date) => sql`(
  select r.next_step_id from autoresponder_runs r
  where r.workspace_id = a.workspace_id and r.autoresponder_id = a.id and r.due_at <= ${ownTime(now)}
  order by r.due_at limit 1)`;

/**
 * All active autoresponders with a date trigger, and those for which a person has joined, a step is due, or the scan
 * position has to be advanced.
 * @param scanning ids of autoresponders with a running scan, for which new members are not looked for again
 */
export function listDueAutoresponders(
  db: Queryable,
  now: Date,
  scanning: readonly string[],
): Promise<DueAutoresponder[]> {
  return db.rows(sql`
    select *, is_first_of_minute and not has_joined as is_idle from (
      select a.workspace_id, a.id, a.at, a.day_done::text as day_done, w.timezone,
        a.trigger_type = 'subscribed' and ${isFirstOfMinute(now)} as is_first_of_minute,
        a.trigger_type = 'subscribed' and (a.id = any(${scanning}::uuid[]) or exists (
          select from ${joinedSql(now, isNew, 1)})) as has_joined,
        a.waiting_reason is not null or ${dueStepSql(now)} is not null as has_due
      from autoresponders a join workspaces w on w.id = a.workspace_id
      where a.status = 'active' and not w.is_suspended offset 0) work
    where has_joined or has_due or is_first_of_minute or day_done is not null
    order by workspace_id, id`);
}

/**
 * Advances the scan position of autoresponders for which no one has joined.
 * @param idle only autoresponders that were scanned: one that was skipped, such as that of a suspended workspace, may have
 * people to be found
 */
export async function advanceScans(db: Queryable, began: Date, idle: readonly string[]): Promise<void> {
  if (idle.length === 0) return;
  await db.run(sql`
    update autoresponders set scanned_to = ${began}
    where id = any (${idle}::uuid[]) and status = 'active' and scanned_to < ${began}`);
}

/** An active autoresponder whose row this transaction has locked. */
export interface LockedAutoresponder
  extends Pick<
      AutoresponderSettings,
      "name" | "mailing_list_id" | "from_email" | "date_field" | "is_yearly" | "at"
    >,
    Pick<AutoresponderSummary, "waiting_reason"> {
  readonly id: string;
  readonly generation: number;
  readonly timezone: string;
  readonly retry_hours: number;
  /** `YYYY-MM-DD` */
  readonly day_done: string | null;
}

/** Undefined when it is not active, or another transaction has locked it. */
export function lockActive(
  tx: Queryable,
  workspaceId: WorkspaceId,
  id: string,
): Promise<LockedAutoresponder | undefined> {
  return tx.row(sql`
    select a.id, a.name, a.mailing_list_id, a.from_email, a.date_field, a.is_yearly, a.at, a.generation,
      a.waiting_reason, a.day_done::text as day_done, w.timezone, w.retry_hours
    from autoresponders a join workspaces w on w.id = a.workspace_id
    where a.workspace_id = ${workspaceId} and a.id = ${id} and a.status = 'active'
    for no key update of a skip locked`);
}

/** The position of a scan over people. */
export interface RunPage {
  /** How many rows were read; fewer than requested means that none are left. */
  readonly seen: number;
  /** The key after which the next page begins; null when no row was read. */
  readonly last: string | null;
}

/** Inserts runs for `page`, a relation with the columns subscriber_id, subscribed_at, occasion and begins_at. */
const insertRunsSql = (workspaceId: WorkspaceId, { id, generation }: LockedAutoresponder, page: Sql) => sql`
  insert into autoresponder_runs (workspace_id, autoresponder_id, subscriber_id, occasion, generation, member_since,
    next_step_id, due_at)
  select ${workspaceId}, ${id}, p.subscriber_id, p.occasion, ${generation}, p.subscribed_at, s.id,
    ${ownTimeAt(sql`p.begins_at`)} + make_interval(mins => s.delay_minutes)
  from ${page} p, autoresponders a, autoresponder_steps s
  where a.workspace_id = ${workspaceId} and a.id = ${id}
    and s.workspace_id = ${workspaceId} and s.autoresponder_id = ${id} and s.position = 1
  on conflict (workspace_id, autoresponder_id, subscriber_id, occasion) do nothing`;

/**
 * Inserts runs for the next page of people who joined while the autoresponder was active, in order of joining.
 * @param began when the scan began
 * @param after the `last` of the page before
 */
export async function insertRunsOfJoined(
  tx: Queryable,
  workspaceId: WorkspaceId,
  autoresponder: LockedAutoresponder,
  began: Date,
  after: string | null,
  limit: number,
): Promise<RunPage> {
  const [joined = null, person = null] = after?.split("/") ?? [];
  const isAfter = sql`(m.subscribed_at, m.subscriber_id) >
    (coalesce(${joined}::timestamptz, '-infinity'), coalesce(${person}::uuid, ${nilId}))`;
  const row = await tx.row<RunPage>(sql`
    with page as materialized (
      select m.*, m.subscribed_at as occasion, m.subscribed_at as begins_at, ${isNew} as is_new
      from autoresponders a cross join ${joinedSql(began, isAfter, limit)}
      where a.workspace_id = ${workspaceId} and a.id = ${autoresponder.id}
      order by m.subscribed_at, m.subscriber_id limit ${limit}
    ), begun as (
      ${insertRunsSql(workspaceId, autoresponder, sql`(select * from page where is_new)`)}
    )
    select (select count(*)::int from page) as seen, (
      select subscribed_at || '/' || subscriber_id from page
      order by subscribed_at desc, subscriber_id desc limit 1) as last`);
  return row ?? { seen: 0, last: null };
}

/** Records that a scan for new members, which began at `began`, is complete. */
export async function updateScanned(
  tx: Queryable,
  workspaceId: WorkspaceId,
  id: string,
  began: Date,
): Promise<void> {
  await tx.run(sql`
    update autoresponders set scanned_to = greatest(scanned_to, ${began})
    where workspace_id = ${workspaceId} and id = ${id}`);
}

/**
 * Inserts runs for the active members in the next page whose date is this day, in order of their ids. A value with a time
 * counts as its day in the workspace's time zone.
 * @param moment the instant of the trigger time on this day
 * @param after the `last` of the page before
 */
export async function insertRunsOfDay(
  tx: Queryable,
  workspaceId: WorkspaceId,
  autoresponder: LockedAutoresponder,
  { day, moment }: { readonly day: string; readonly moment: Date },
  after: string | null,
  limit: number,
): Promise<RunPage> {
  const { timezone, date_field, mailing_list_id, is_yearly } = autoresponder;
  const isToday = is_yearly
    ? sql`substr(date, 6) = any(${daysOfYear(day)}::text[]) and date <= ${day}`
    : sql`date = ${day}`;
  const row = await tx.row<RunPage>(sql`
    with page as materialized (
      select subscriber_id, subscribed_at, status from memberships
      where workspace_id = ${workspaceId} and mailing_list_id = ${mailing_list_id}
        and subscriber_id > ${after ?? nilId}::uuid
      order by subscriber_id limit ${limit}
    ), dated as (
      select p.subscriber_id, p.subscribed_at, ${day}::date::timestamp at time zone 'UTC' as occasion,
        ${moment}::timestamptz as begins_at,
        case when held like '____-__-__' then held
          when held like '____-__-__T%Z' and pg_input_is_valid(held, 'timestamptz')
            then (held::timestamptz at time zone ${timezone})::date::text end collate "C" as date
      from (${withWorkspace(workspaceId, sql`page`)}) p cross join lateral (
        select (custom_fields ->> ${date_field}::text) collate "C" as held from subscribers
        where workspace_id = p.workspace and id = p.subscriber_id offset 0) s
      where p.status = 'active' and p.subscribed_at <= ${moment}
    ), begun as (
      ${insertRunsSql(workspaceId, autoresponder, sql`(select * from dated where ${isToday})`)}
    )
    select (select count(*)::int from page) as seen,
      (select subscriber_id::text from page order by subscriber_id desc limit 1) as last`);
  return row ?? { seen: 0, last: null };
}

export async function updateDayDone(
  tx: Queryable,
  workspaceId: WorkspaceId,
  id: string,
  day: string,
): Promise<void> {
  await tx.run(sql`
    update autoresponders set day_done = greatest(day_done, ${day}::date)
    where workspace_id = ${workspaceId} and id = ${id}`);
}

/** The step that has been due for the longest time. */
export interface DueStep {
  readonly id: string;
  /** Null when the step was removed. */
  readonly position: number | null;
  readonly content_id: string;
  readonly subject: string;
  /** Characters of the content. */
  readonly bytes: number;
}

/** Undefined when no run is due. */
export function findDueStep(
  tx: Queryable,
  workspaceId: WorkspaceId,
  id: string,
  now: Date,
): Promise<DueStep | undefined> {
  return tx.row(sql`
    select s.id, s.position, s.content_id, coalesce(c.subject, '') as subject,
      coalesce(length(c.html_content), 0) + coalesce(length(c.text_content), 0) as bytes
    from autoresponders a
    cross join lateral ${dueStepSql(now)} due
    join autoresponder_steps s on s.workspace_id = a.workspace_id and s.autoresponder_id = a.id and s.id = due.next_step_id
    -- The content of a removed step may be deleted.
    left join autoresponder_contents c on c.workspace_id = s.workspace_id and c.id = s.content_id
    where a.workspace_id = ${workspaceId} and a.id = ${id}`);
}

/**
 * Moves up to `most` due runs of a removed step to its successor, or ends them. Only runs of this step are read, because
 * runs of other steps that have been due as long may sort first each time.
 */
export async function skipRemovedStep(
  tx: Queryable,
  workspaceId: WorkspaceId,
  id: string,
  { stepId, now, most }: { readonly stepId: string; readonly now: Date; readonly most: number },
): Promise<void> {
  await tx.run(sql`
    with waiting as materialized (
      select r.ctid as place from autoresponders a
      join autoresponder_runs r on r.workspace_id = a.workspace_id and r.autoresponder_id = a.id
        and r.due_at <= ${ownTime(now)} and r.next_step_id = ${stepId}
      where a.workspace_id = ${workspaceId} and a.id = ${id}
      order by r.due_at limit ${most} for update of r
    )
    update autoresponder_runs r
    set next_step_id = s.successor_id, due_at = case when s.successor_id is not null then r.due_at end
    from waiting w
    join autoresponder_steps s on s.workspace_id = ${workspaceId} and s.autoresponder_id = ${id} and s.id = ${stepId}
    where r.ctid = w.place`);
}

/** @param reason why due runs are not sent; null when they are */
export async function updateWaitingReason(
  tx: Queryable,
  workspaceId: WorkspaceId,
  id: string,
  reason: LockedAutoresponder["waiting_reason"],
): Promise<void> {
  await tx.run(sql`
    update autoresponders set waiting_reason = ${reason} where workspace_id = ${workspaceId} and id = ${id}`);
}

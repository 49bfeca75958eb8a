/**
 * Who is where in which series. Whoever begins one gets a row; it says which step comes next and when, by the
 * autoresponder's own clock, which stands still while it is inactive. Everything here is a bounded statement that bears
 * being repeated: a run is the one row of its person and occasion.
 */
import sql, { type Sql } from "sql-template-tag";
import { withWorkspace } from "#audience/subscribers/memberships/planner-hints.ts";
import type { Queryable } from "#platform/database/pool.ts";
import { nilId, type WorkspaceId } from "#platform/ids.ts";
import type { AutoresponderSummary } from "./autoresponder.ts";
import type { AutoresponderSettings } from "./read-autoresponder.ts";
import { daysOfYear } from "./trigger-days.ts";

/**
 * A membership may be seen so much later than its moment says: the transaction that wrote it was open as long, or clocks
 * differ. A look that went back as far each time would read everybody of a large import again and again; those who come
 * later than usual are found by the first of each minute.
 */
const LATE = sql`interval '10 minutes'`;
const USUAL = sql`interval '30 seconds'`;
const isFirstOfMinute = (now: Date) =>
  sql`date_trunc('minute', a.scanned_to) < date_trunc('minute', ${now}::timestamptz)`;

/** An active autoresponder with which something is to be done. */
export interface DueAutoresponder {
  readonly workspace_id: WorkspaceId;
  readonly id: string;
  readonly at: string | null;
  readonly day_done: string | null;
  readonly timezone: string;
  readonly has_joined: boolean;
  readonly has_due: boolean;
  /** The first look of a minute has found nobody. */
  readonly is_idle: boolean;
}

const ownTime = (now: Date) => sql`(${now}::timestamptz - a.stood_still)`;
/** At a moment that may lie before a pause, of one that is active. */
const ownTimeAt = (moment: Sql) => sql`(${moment} - a.stood_still + coalesce((
  select sum(upper(pause) - lower(pause))
  from unnest(tstzmultirange(tstzrange(${moment}, null)) - a.active_times) pause), '0'))`;
const activeSince = (moment: Sql) => sql`(a.active_times * tstzmultirange(tstzrange(${moment}, null)))`;
/** The times it was active that a look may still go through. */
export const unseenTimes = activeSince(sql`a.scanned_to - ${LATE}`);
/**
 * Memberships m that may begin a series, one stretch of time after the other: of the people who joined while it was
 * inactive, who may be a million, none is read. In the order of their index, which keeps the planner from others that have
 * everybody of the list.
 * @param began when the look begins
 * @param most of each stretch
 */
const joinedSql = (began: Date, condition: Sql, most: number) => sql`
  unnest(${activeSince(sql`a.scanned_to - case when ${isFirstOfMinute(began)} then ${LATE} else ${USUAL} end`)}) stretch
  cross join lateral (
    select m.subscriber_id, m.subscribed_at, m.status from memberships m
    where m.workspace_id = a.workspace_id and m.mailing_list_id = a.mailing_list_id and not m.is_quiet
      and m.subscribed_at between lower(stretch) and coalesce(upper(stretch), 'infinity') and ${condition}
    order by m.subscribed_at, m.subscriber_id limit ${most}) m`;
/** Asked of each membership by itself: joined, by old statistics all runs were read for each. */
const isNew = sql`(m.status = 'active' and not exists (
  select from (
    select from autoresponder_runs r
    where r.workspace_id = a.workspace_id and r.autoresponder_id = a.id and r.subscriber_id = m.subscriber_id
      and r.occasion = m.subscribed_at offset 0) run))`;
/** The step of whoever has waited longest. Without its order the planner may look through everybody who waits. */
const dueStepSql = (now: Date) => sql`(
  select r.next_step_id from autoresponder_runs r
  where r.workspace_id = a.workspace_id and r.autoresponder_id = a.id and r.due_at <= ${ownTime(now)}
  order by r.due_at limit 1)`;

/**
 * All that a date may trigger, and of the others those for which somebody has joined, a step is due, or it is to be noted
 * that nobody has joined.
 * @param looking those that are looking for who joined already: it is not looked whether there is anybody
 */
export function listDueAutoresponders(
  db: Queryable,
  now: Date,
  looking: readonly string[],
): Promise<DueAutoresponder[]> {
  return db.rows(sql`
    select *, is_first_of_minute and not has_joined as is_idle from (
      select a.workspace_id, a.id, a.at, a.day_done::text as day_done, w.timezone,
        a.trigger_type = 'subscribed' and ${isFirstOfMinute(now)} as is_first_of_minute,
        a.trigger_type = 'subscribed' and (a.id = any(${looking}::uuid[]) or exists (
          select from ${joinedSql(now, isNew, 1)})) as has_joined,
        a.waiting_reason is not null or ${dueStepSql(now)} is not null as has_due
      from autoresponders a join workspaces w on w.id = a.workspace_id
      where a.status = 'active' and not w.is_suspended offset 0) work
    where has_joined or has_due or is_first_of_minute or day_done is not null
    order by workspace_id, id`);
}

/**
 * Nobody who joined up to this moment is missing where nobody new was found.
 * @param idle those that were looked at, and no others: whoever is passed over, such as a suspended workspace, has people
 * yet to be found
 */
export async function advanceScans(db: Queryable, began: Date, idle: readonly string[]): Promise<void> {
  if (idle.length === 0) return;
  await db.run(sql`
    update autoresponders set scanned_to = ${began}
    where id = any (${idle}::uuid[]) and status = 'active' and scanned_to < ${began}`);
}

/** An active autoresponder that nobody else moves on, changes or deactivates before this transaction ends. */
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

/** Undefined when it is not active any more, or somebody else is at it. */
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

/** How far a look at people has come. */
export interface RunPage {
  /** Who were looked at; fewer than were asked for: nobody is left. */
  readonly seen: number;
  /** Behind which the next page begins; null when nobody was looked at. */
  readonly last: string | null;
}

/** Runs of the people in `page`, with the columns subscriber_id, subscribed_at, occasion and begins_at. */
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
 * Those who joined while it was active, the first of them first.
 * @param began when the look began
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

/** A whole look at who joined is over; `began` is when it began. */
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
 * Active members whose date is this day, in the order of their ids; `moment` is the day's. A date with a time counts as the
 * day that it is in the workspace's zone.
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

/** The step that somebody has waited for longest, and whether it is one still. */
export interface DueStep {
  readonly id: string;
  /** Null: removed. */
  readonly position: number | null;
  readonly content_id: string;
  readonly subject: string;
  /** Characters of the content. */
  readonly bytes: number;
}

/** Undefined when nobody waits. */
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
    -- That of a removed step may be gone.
    left join autoresponder_contents c on c.workspace_id = s.workspace_id and c.id = s.content_id
    where a.workspace_id = ${workspaceId} and a.id = ${id}`);
}

/**
 * At most `most` of those who wait for a step that was removed go on with its successor, or have come to the end. Of this
 * step alone: who has waited as long for another may come first, again and again.
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

/** Why people whose time has come wait; null: they do not. */
export async function updateWaitingReason(
  tx: Queryable,
  workspaceId: WorkspaceId,
  id: string,
  reason: LockedAutoresponder["waiting_reason"],
): Promise<void> {
  await tx.run(sql`
    update autoresponders set waiting_reason = ${reason} where workspace_id = ${workspaceId} and id = ${id}`);
}

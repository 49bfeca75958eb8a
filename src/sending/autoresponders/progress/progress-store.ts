/** Reads where people are in a series: how many wait for each step, who they are, and one person's newest round. */
import sql, { empty, type Sql } from "sql-template-tag";
import type { Page } from "#platform/database/page.ts";
import type { Queryable } from "#platform/database/pool.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import { exclusionsSql } from "#sending/acceptance/bulk-mail-store.ts";

/** People who wait for one step are counted up to this. */
const MOST_COUNTED = 100_000;
/** The total of the list of people is counted up to this. */
export const MOST_LISTED = 10_000;

/** The time at which a run of `a` is due, from its own time. While it is inactive: as if it were activated now. */
const dueAt = (own: Sql, now: Date) => sql`(${own} + a.stood_still
  + case when a.status = 'inactive' then coalesce(${now}::timestamptz - a.deactivated_at, '0') else '0' end)`;
/** The same; null while it is inactive. */
const dueIfActive = (own: Sql) => sql`case when a.status = 'active' then ${own} + a.stood_still end`;

/**
 * The step whose mail a run gets next, for each step that it may name; null if the series ends. A run keeps the step that it
 * waits for when that is removed, and continues with its successor when the time comes (replace-steps.ts).
 */
export async function findNextSteps(
  db: Queryable,
  workspaceId: WorkspaceId,
  autoresponderId: string,
): Promise<ReadonlyMap<string, string | null>> {
  const rows = await db.rows<{ id: string; is_removed: boolean; successor_id: string | null }>(sql`
    select id, position is null as is_removed, successor_id from autoresponder_steps
    where workspace_id = ${workspaceId} and autoresponder_id = ${autoresponderId}`);
  const byId = new Map(rows.map((row) => [row.id, row]));
  const next = new Map<string, string | null>(
    rows.flatMap(({ id, is_removed }) => (is_removed ? [] : [[id, id] as const])),
  );
  for (const { id } of rows) {
    const passed: string[] = [];
    let at: string | null = id;
    while (at !== null && !next.has(at)) {
      passed.push(at);
      at = byId.get(at)?.successor_id ?? null;
    }
    const end = at === null ? null : (next.get(at) ?? null);
    for (const one of passed) next.set(one, end);
  }
  return next;
}

export interface StepFiguresRow {
  readonly step_id: string;
  readonly position: number;
  readonly subject: string;
  readonly delay_minutes: number;
  readonly waiting_count: number;
  readonly waiting_count_is_exact: boolean;
  readonly next_mail_at: Date | null;
  readonly queued_count: number;
  readonly sent_count: number;
  readonly delivered_count: number;
  readonly open_count: number;
  readonly unique_open_count: number;
  readonly click_count: number;
  readonly unique_click_count: number;
  readonly bounce_count: number;
  readonly complaint_count: number;
  readonly unsubscribe_count: number;
  readonly failed_count: number;
}

/** @param next the result of findNextSteps */
export function listStepFigures(
  db: Queryable,
  workspaceId: WorkspaceId,
  id: string,
  next: ReadonlyMap<string, string | null>,
): Promise<StepFiguresRow[]> {
  const counter = (name: Sql) => sql`coalesce(${name}, 0)`;
  return db.rows(sql`
    select s.id as step_id, s.position, c.subject, s.delay_minutes, coalesce(w.waiting, 0) as waiting_count,
      coalesce(w.is_exact, true) as waiting_count_is_exact, ${dueIfActive(sql`w.due_at`)} as next_mail_at,
      ${counter(sql`n.queued + n.deferred`)} as queued_count, ${counter(sql`n.sent`)} as sent_count,
      ${counter(sql`n.delivered + n.complained`)} as delivered_count, ${counter(sql`n.opens`)} as open_count,
      ${counter(sql`n.unique_opens`)} as unique_open_count, ${counter(sql`n.clicks`)} as click_count,
      ${counter(sql`n.unique_clicks`)} as unique_click_count, ${counter(sql`n.bounced`)} as bounce_count,
      ${counter(sql`n.complained`)} as complaint_count, ${counter(sql`n.unsubscribed`)} as unsubscribe_count,
      ${counter(sql`n.failed`)} as failed_count
    from autoresponders a
    join autoresponder_steps s on s.workspace_id = a.workspace_id and s.autoresponder_id = a.id and s.position is not null
    join autoresponder_contents c on c.workspace_id = s.workspace_id and c.id = s.content_id
    left join autoresponder_step_counters n on n.workspace_id = s.workspace_id and n.step_id = s.id
    left join (
      select step_id, sum(waiting)::int as waiting, bool_and(waiting < ${MOST_COUNTED}) as is_exact, min(due_at) as due_at
      from unnest(${[...next.values()]}::uuid[], ${[...next.keys()]}::uuid[]) as w (step_id, at)
      cross join lateral (
        select count(*) as waiting, min(due_at) as due_at from (
          select r.due_at from autoresponder_runs r
          where r.workspace_id = ${workspaceId} and r.autoresponder_id = ${id} and r.next_step_id = w.at
            and r.due_at is not null
          order by r.due_at limit ${MOST_COUNTED}) r) r
      group by step_id) w on w.step_id = s.id
    where a.workspace_id = ${workspaceId} and a.id = ${id}
    order by s.position`);
}

export interface WaitingRow {
  readonly subscriber_id: string;
  readonly email: string;
  readonly first_name: string | null;
  readonly last_name: string | null;
  /** The step that the run names, which may be a removed one. */
  readonly at: string;
  readonly started_at: Date;
  readonly next_mail_at: Date | null;
  readonly continues: boolean;
  /** The place of the row in the list, before its subscriber. */
  readonly place: string;
}

/** Between the two times of a place. */
const AND = "/";
const waiting = (workspaceId: WorkspaceId, id: string, at: readonly string[]) => sql`
  r.workspace_id = ${workspaceId} and r.autoresponder_id = ${id} and r.due_at is not null
  and r.next_step_id = any (${at}::uuid[])`;

/**
 * The people who wait, in the order of their next mail.
 * @param at the steps that their runs may name
 */
export function listWaiting(
  db: Queryable,
  workspaceId: WorkspaceId,
  id: string,
  at: readonly string[],
  { limit, offset, after, afterKey = "" }: Page,
): Promise<WaitingRow[]> {
  const [due = null, occasion = null] = afterKey.split(AND);
  const behind =
    after === undefined
      ? empty
      : sql`and (r.due_at, r.subscriber_id, r.occasion) > (${due}::timestamptz, ${after}::uuid, ${occasion}::timestamptz)`;
  return db.rows(sql`
    select r.subscriber_id, s.email, s.first_name, s.last_name, r.next_step_id as at, r.occasion as started_at,
      ${dueIfActive(sql`r.due_at`)} as next_mail_at, r.generation = a.generation and m.is_same as continues,
      r.due_at || ${AND} || r.occasion as place
    from (
      select * from autoresponder_runs r where ${waiting(workspaceId, id, at)} ${behind}
      order by r.due_at, r.subscriber_id, r.occasion limit ${limit} offset ${offset}) r
    join autoresponders a on a.workspace_id = r.workspace_id and a.id = r.autoresponder_id
    join subscribers s on s.workspace_id = r.workspace_id and s.id = r.subscriber_id
    cross join lateral (
      select exists (
        select from memberships m
        where m.workspace_id = r.workspace_id and m.mailing_list_id = a.mailing_list_id
          and m.subscriber_id = r.subscriber_id and m.status = 'active' and m.subscribed_at = r.member_since) as is_same) m
    order by r.due_at, r.subscriber_id, r.occasion`);
}

/** Counts up to MOST_LISTED + 1. */
export async function countWaiting(
  db: Queryable,
  workspaceId: WorkspaceId,
  id: string,
  at: readonly string[],
): Promise<number> {
  const row = await db.row<{ total: number }>(sql`
    select count(*)::int as total from (
      select from autoresponder_runs r where ${waiting(workspaceId, id, at)} limit ${MOST_LISTED + 1}) found`);
  return row?.total ?? 0;
}

/** A person as a walk through the series needs them. */
export interface WalkerRow {
  readonly email: string;
  readonly first_name: string | null;
  readonly last_name: string | null;
  /** Null when they are not on the list of the autoresponder. */
  readonly subscribed_at: Date | null;
  /** Why they would get no mail now, as exclusionsSql finds it. */
  readonly cause: "unsubscribed" | "invalid" | "suppressed" | null;
  /** The day in the field of a date trigger, `YYYY-MM-DD`; null without one. */
  readonly date: string | null;
  /** The newest round; null if the series has not begun. */
  readonly occasion: Date | null;
  readonly continues: boolean;
  /** Both are null when the series has ended. */
  readonly next_step_id: string | null;
  readonly due_at: Date | null;
  /** The mails of the round. */
  readonly mails: readonly { readonly step_id: string; readonly message_id: string }[];
}

/** Undefined for an unknown subscriber. */
export function findWalker(
  db: Queryable,
  workspaceId: WorkspaceId,
  id: string,
  subscriberId: string,
  now: Date,
): Promise<WalkerRow | undefined> {
  return db.row(sql`
    with asked as materialized (
      select a.workspace_id, a.id as autoresponder_id, a.mailing_list_id, a.generation, a.stood_still,
        a.status as autoresponder_status, a.deactivated_at, s.id as subscriber_id, s.email as address, s.email_domain as domain,
        s.first_name, s.last_name, s.custom_fields ->> a.date_field as held, m.subscribed_at,
        coalesce(m.status, 'active') as status, null::uuid as segment_id, false as is_platform, w.timezone
      from autoresponders a
      join workspaces w on w.id = a.workspace_id
      join subscribers s on s.workspace_id = a.workspace_id and s.id = ${subscriberId}
      left join memberships m on m.workspace_id = a.workspace_id and m.mailing_list_id = a.mailing_list_id
        and m.subscriber_id = s.id
      where a.workspace_id = ${workspaceId} and a.id = ${id}
    )
    select j.address as email, j.first_name, j.last_name, j.subscribed_at, j.cause,
      case when j.held like '____-__-__' and pg_input_is_valid(j.held, 'date') then j.held
        when j.held like '____-__-__T%Z' and pg_input_is_valid(j.held, 'timestamptz')
          then to_char(j.held::timestamptz at time zone j.timezone, 'YYYY-MM-DD') end as date,
      r.occasion, coalesce(r.generation = j.generation and r.member_since = j.subscribed_at, false) as continues,
      r.next_step_id, ${dueAt(sql`r.due_at`, now)} as due_at, coalesce(mails.sent, '[]') as mails
    from ${exclusionsSql(sql`asked`)} j
    cross join lateral (select j.stood_still, j.autoresponder_status as status, j.deactivated_at) a
    left join lateral (
      select * from autoresponder_runs r
      where r.workspace_id = j.workspace_id and r.autoresponder_id = j.autoresponder_id and r.subscriber_id = j.subscriber_id
      order by r.occasion desc limit 1) r on true
    left join lateral (
      select json_agg(json_build_object('step_id', m.step_id, 'message_id', m.message_id)) as sent
      from autoresponder_mails m
      where m.workspace_id = j.workspace_id and m.autoresponder_id = j.autoresponder_id
        and m.subscriber_id = j.subscriber_id and m.occasion = r.occasion) mails on true`);
}

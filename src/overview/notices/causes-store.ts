/**
 * What needs attention, by kind: one statement for each kind, for many workspaces at once. Each reads along an index of its
 * workspace, or a table that a workspace has few rows in, and returns at most `most` rows for each workspace.
 */
import sql, { type Sql } from "sql-template-tag";
import type { Queryable } from "#platform/database/pool.ts";
import { firstIdAt, type WorkspaceId } from "#platform/ids.ts";
import { DAY_MS } from "#platform/time-units.ts";
import { isToApprove } from "#sending/campaigns/store.ts";

interface Cause {
  readonly workspace_id: WorkspaceId;
  readonly id: string;
  readonly name: string;
  readonly since: Date;
}

const each = (workspaceIds: readonly WorkspaceId[], rows: Sql, most: number) => sql`
  select w.workspace_id, r.* from unnest(${[...workspaceIds]}::uuid[]) as w (workspace_id)
  cross join lateral (${rows} order by since desc, id desc limit ${most}) r`;

export interface SuspendedWorkspace {
  readonly workspace_id: WorkspaceId;
  readonly since: Date | null;
}

export function listSuspended(
  db: Queryable,
  workspaceIds: readonly WorkspaceId[],
): Promise<SuspendedWorkspace[]> {
  return db.rows(
    sql`
    select id as workspace_id, suspended_at as since from workspaces
    where id = any (${[...workspaceIds]}::uuid[]) and is_suspended`,
    "notices suspended workspaces",
  );
}

export interface PausedCampaign extends Cause {
  readonly pause_reason: string | null;
}

export function listPausedCampaigns(
  db: Queryable,
  workspaceIds: readonly WorkspaceId[],
  most: number,
): Promise<PausedCampaign[]> {
  const rows = sql`
    select c.id, c.name, c.paused_at as since, c.pause_reason from campaigns c
    where c.workspace_id = w.workspace_id and c.status = 'paused' and c.paused_at is not null and c.deleted_at is null`;
  return db.rows(each(workspaceIds, rows, most), "notices paused campaigns");
}

export interface AskedApproval extends Cause {
  readonly asked_by: string;
  readonly message: string | null;
  readonly revision: number;
}

export function listAskedApprovals(
  db: Queryable,
  workspaceIds: readonly WorkspaceId[],
  most: number,
): Promise<AskedApproval[]> {
  const rows = sql`
    select c.id, c.name, c.approval_requested_at as since, c.approval_requested_by as asked_by,
      c.approval_message as message, c.revision
    from campaigns c
    where c.workspace_id = w.workspace_id and ${isToApprove} and c.deleted_at is null`;
  return db.rows(each(workspaceIds, rows, most), "notices asked approvals");
}

export interface StoppedAutoresponder extends Cause {
  readonly deactivation_reason: string;
}

export function listDeactivatedByService(
  db: Queryable,
  workspaceIds: readonly WorkspaceId[],
  most: number,
): Promise<StoppedAutoresponder[]> {
  const rows = sql`
    select a.id, a.name, a.deactivated_at as since, a.deactivation_reason from autoresponders a
    where a.workspace_id = w.workspace_id and a.status = 'inactive' and a.deactivation_reason is not null`;
  return db.rows(each(workspaceIds, rows, most), "notices stopped autoresponders");
}

export interface BrokenDomain extends Cause {
  /** Checks that fail, with the beginning of the failure (ISO 8601), and whether the verification is lost. */
  readonly checks: Readonly<Record<string, { readonly since: string; readonly is_lost: boolean }>>;
}

/**
 * Domains that were verified and whose records are missing or wrong now. A key of DKIM may fail while another one is
 * verified.
 */
export function listBrokenDomains(
  db: Queryable,
  workspaceIds: readonly WorkspaceId[],
  most: number,
): Promise<BrokenDomain[]> {
  // jsonb_object_keys in a select list takes less than half the time of jsonb_each in a join.
  const domainsBy = (checks: Sql) => sql`(
        select id, domain, custom_return_path, lost_checks, failed_checks, jsonb_object_keys(${checks}) as key
        from sending_domains where workspace_id = w.workspace_id and ${checks} <> '{}') d`;
  const isOwn = sql`(key <> 'return_path' or d.custom_return_path)`;
  const checks = sql`
      select d.id, d.domain as name, key, (d.lost_checks ->> key)::timestamptz as since, true as is_lost
      from ${domainsBy(sql`lost_checks`)}
      where ${isOwn}
      union all
      select d.id, d.domain, key, (d.failed_checks -> key ->> 'since')::timestamptz, false
      from ${domainsBy(sql`failed_checks`)}
      where ${isOwn} and not d.lost_checks ? key
      union all
      select d.id, d.domain, 'dkim', k.since, false
      from (
        select domain, max((failed_checks ->> 'since')::timestamptz) as since from dkim_keys
        where workspace_id = w.workspace_id and verified_at is not null
        group by domain having bool_and(failed_checks is not null)) k
      join sending_domains d on d.workspace_id = w.workspace_id and d.domain = k.domain and d.dkim_verified`;
  // Only the checks of the domains that are listed become objects.
  const rows = sql`
    with checks as materialized (${checks}
    ), newest as (
      select id, name, min(since) as since from checks group by id, name order by since desc, id desc limit ${most}
    )
    select n.id, n.name, n.since,
      jsonb_object_agg(c.key, jsonb_build_object('since', c.since, 'is_lost', c.is_lost)) as checks
    from newest n join checks c on c.id = n.id
    group by n.id, n.name, n.since`;
  return db.rows(each(workspaceIds, rows, most), "notices broken domains");
}

export interface ListedTarget extends Cause {
  readonly target_type: "ip" | "domain";
  readonly zones: readonly string[];
}

export function listListedTargets(
  db: Queryable,
  workspaceIds: readonly WorkspaceId[],
  most: number,
): Promise<ListedTarget[]> {
  const rows = sql`
    select m.id, m.target as name, m.listed_since as since, m.target_type, m.last_listed_zones as zones
    from blacklist_monitors m where m.workspace_id = w.workspace_id and m.status = 'active' and m.listed_since is not null`;
  return db.rows(each(workspaceIds, rows, most), "notices listed targets");
}

export interface FailingWebhook extends Cause {
  readonly is_active: boolean;
  readonly disabled_reason: string | null;
  readonly consecutive_failures: number;
}

/** Not those that a person has switched off. */
export function listFailingWebhooks(
  db: Queryable,
  workspaceIds: readonly WorkspaceId[],
  most: number,
): Promise<FailingWebhook[]> {
  const rows = sql`
    select h.id, h.url as name, h.failing_since as since, h.is_active, h.disabled_reason, h.consecutive_failures
    from webhooks h
    where h.workspace_id = w.workspace_id and h.failing_since is not null and h.deleted_at is null
      and (h.is_active or h.disabled_reason is not null)`;
  return db.rows(each(workspaceIds, rows, most), "notices failing webhooks");
}

export interface FailedJob extends Cause {
  /** The permission to read the job. */
  readonly permission: string;
  readonly error: string | null;
}

/**
 * At most `most` of each permission, so that a caller who may see only some of them gets as many as one who sees all.
 * @param permissions of the jobs that are listed, each once
 */
export function listFailedJobs(
  db: Queryable,
  workspaceIds: readonly WorkspaceId[],
  most: number,
  permissions: readonly string[],
): Promise<FailedJob[]> {
  return db.rows(
    sql`
    select w.workspace_id, j.* from unnest(${[...workspaceIds]}::uuid[]) as w (workspace_id)
    cross join unnest(${[...permissions]}::text[]) as p (permission)
    cross join lateral (
      select id, type as name, completed_at as since, permission, error from jobs
      where workspace_id = w.workspace_id and permission = p.permission and status = 'failed' and completed_at is not null
      order by completed_at desc, id desc limit ${most}) j`,
    "notices failed jobs",
  );
}

export interface ComplainedAbout {
  readonly workspace_id: WorkspaceId;
  /** Messages of the last COMPLAINT_DAYS that were delivered. */
  readonly delivered: number;
  /** Complaints that came in these days. */
  readonly complaints: number;
  /** The first of the days in a row at whose end the rate was too high; null if it is older than COMPLAINT_RUN_DAYS. */
  readonly since: Date | null;
}

export const COMPLAINT_DAYS = 30;
const COMPLAINT_RUN_DAYS = 90;

/**
 * Workspaces whose complaints are above the limit in the last 30 days, by the counters that are applied. Complaints count at
 * their own time, so that the figures of past days stay as they are, and with them the beginning.
 * @param limits `rate` of the delivered messages, 0 to 1, and the least number of complaints
 */
export function listComplainedAbout(
  db: Queryable,
  workspaceIds: readonly WorkspaceId[],
  { rate, least, now }: { readonly rate: number; readonly least: number; readonly now: Date },
): Promise<ComplainedAbout[]> {
  const since = (days: number) => sql`${now}::timestamptz - make_interval(days => ${days})`;
  const [run, window] = [since(COMPLAINT_RUN_DAYS), since(COMPLAINT_RUN_DAYS + COMPLAINT_DAYS)];
  const sums = sql`sum(e.delivered + e.complained)::bigint as delivered, sum(e.complaints)::bigint as complaints`;
  const isAbove = sql`(complaints >= ${least}::int and delivered > 0 and complaints > ${rate}::float8 * delivered)`;
  return db.rows(
    sql`
    with above as materialized (
      select w.workspace_id, c.* from unnest(${[...workspaceIds]}::uuid[]) as w (workspace_id)
      cross join lateral (
        select ${sums} from report_eighths e
        where e.workspace_id = w.workspace_id and eighth >= ${since(COMPLAINT_DAYS)}) c
      where ${isAbove}
    ), days as (
      select workspace_id, day, sum(c.delivered) over span as delivered, sum(c.complaints) over span as complaints
      from (
        select workspace_id, day from above
        cross join generate_series(date_trunc('day', ${window}, 'UTC'), ${now}::timestamptz, interval '1 day') as day) d
      left join (
        select e.workspace_id, date_trunc('day', eighth, 'UTC') as day, ${sums}
        from above a join report_eighths e on e.workspace_id = a.workspace_id and eighth >= ${window}
        group by 1, 2) c using (workspace_id, day)
      window span as (partition by workspace_id order by day rows ${COMPLAINT_DAYS - 1} preceding)
    ), fine as (
      select workspace_id, max(day) as day from days
      where coalesce(not ${isAbove}, true) and day < date_trunc('day', ${now}::timestamptz, 'UTC')
      group by 1
    )
    select a.workspace_id, a.delivered, a.complaints,
      case when fine.day >= date_trunc('day', ${run}, 'UTC') then fine.day + interval '1 day' end as since
    from above a left join fine using (workspace_id)`,
    "notices complained about",
  );
}

export interface BillingState {
  readonly workspace_id: WorkspaceId;
  readonly balance: string;
  readonly is_prepaid: boolean;
  readonly plan: string;
  readonly subscription: object | null;
  readonly meters: readonly {
    readonly kind: string;
    readonly period_start: string;
    readonly used: number;
    readonly paid: string;
    readonly covered: number;
  }[];
  /** The movements of the balance in the last days, by day (UTC, YYYY-MM-DD), and the part of them that is usage. */
  readonly days: readonly { readonly day: string; readonly moved: string; readonly spent: string }[];
}

/** A month and a little: the period of an allowance cannot have begun earlier. */
const PERIOD_DAYS = 32;

/** What the notices about billing are derived from. @param days days up to today whose movements are read */
export function listBillingStates(
  db: Queryable,
  workspaceIds: readonly WorkspaceId[],
  { days, now }: { readonly days: number; readonly now: Date },
): Promise<BillingState[]> {
  const begin = new Date(now.getTime() - days * DAY_MS);
  return db.rows(
    sql`
    select w.id as workspace_id, coalesce(a.balance, 0)::numeric(20, 6) as balance,
      coalesce(a.is_prepaid, false) as is_prepaid, w.plan, to_jsonb(s) - 'workspace_id' as subscription,
      array(
        select jsonb_build_object('kind', kind, 'period_start', period_start, 'used', used, 'paid', paid::text,
          'covered', covered)
        from meters m
        where m.workspace_id = w.id and m.period_start > ${now}::timestamptz - make_interval(days => ${PERIOD_DAYS})) as meters,
      array(
        select jsonb_build_object('day', day, 'moved', sum(amount)::text,
          'spent', coalesce(-sum(amount) filter (where transaction_type = 'usage'), 0)::text)
        from (
          select coalesce(t.day, (t.created_at at time zone 'UTC')::date)::text as day, amount, transaction_type
          from billing_transactions t
          where t.workspace_id = w.id and t.status = 'completed' and t.id >= ${firstIdAt(begin)}::uuid) t
        group by day order by day) as days
    from workspaces w
    left join billing_accounts a on a.workspace_id = w.id
    left join subscriptions s on s.workspace_id = w.id
    where w.id = any (${[...workspaceIds]}::uuid[])`,
    "notices billing",
  );
}

/**
 * SQL of the progress of campaigns, for many campaigns in one statement: counters, the leased rows of the queue, and the
 * newest events of each campaign along their index. Nothing here grows with the number of recipients.
 */
import sql from "sql-template-tag";
import { CLOCK_DIFFERENCE_SECONDS } from "#platform/clock.ts";
import type { Queryable } from "#platform/database/pool.ts";
import { firstIdAt, lastId, timeOfId, type WorkspaceId } from "#platform/ids.ts";
import type { CampaignStatus } from "#sending/campaigns/campaign.ts";
import type { PauseReason } from "#sending/campaigns/transitions-store.ts";

/** The window of the rate. */
export const RATE_SECONDS = 60;
/** Events of one type that are counted for the rate; a faster campaign's rate is that of its newest ones. */
const MOST_COUNTED = 20_000;
/** A deferral is shown for this long. */
const DEFERRAL_SECONDS = 300;
/** A campaign has new events for this long after its end, from messages that are tried again. */
const MOVING_DAYS = 4;
/** Held-back messages of a workspace that are searched for one of the campaign. */
const MOST_HELD_BACK = 5_000;

export interface CampaignRef {
  readonly workspaceId: WorkspaceId;
  readonly id: string;
}

export interface ProgressRow {
  readonly workspace_id: WorkspaceId;
  readonly id: string;
  readonly status: CampaignStatus;
  readonly pause_reason: PauseReason | null;
  readonly is_suspended: boolean;
  readonly waits_for_cap: boolean;
  readonly scheduled_at: Date | null;
  readonly sent_at: Date | null;
  readonly completed_at: Date | null;
  readonly is_expanded: boolean;
  readonly estimated_recipients: number;
  readonly excluded_suppressed: number;
  readonly excluded_unsubscribed: number;
  readonly excluded_invalid: number;
  readonly excluded_duplicate: number;
  readonly queued: number;
  readonly deferred: number;
  readonly delivered: number;
  readonly bounced: number;
  readonly failed: number;
  readonly suppressed: number;
  readonly cancelled: number;
  readonly complained: number;
  readonly sent: number;
  readonly unique_opens: number;
  readonly unique_clicks: number;
  readonly unsubscribed: number;
  /** Leased messages without an earlier attempt, and those with one. */
  readonly held_new: number;
  readonly held_again: number;
  /** Messages of the last RATE_SECONDS that were delivered, bounced or failed. */
  readonly finished_lately: number;
  readonly deferred_lately: number;
  /** Whether messages wait for the daily quota of a sending IP (`warm_up`), or for the machine that has the address. */
  readonly held_back: "warm_up" | "sending_ip" | null;
  readonly last_deferral: LastDeferral | null;
}

export interface LastDeferral {
  readonly time: string;
  readonly domain: string;
  readonly mx_host: string | null;
  readonly code: number | null;
  readonly enhanced_code: string | null;
  readonly text: string | null;
}

/** Deleted campaigns and those of other workspaces are left out. */
export async function listProgress(
  db: Queryable,
  refs: readonly CampaignRef[],
  now: Date,
): Promise<ProgressRow[]> {
  const ids = refs.map(({ id }) => id);
  const workspaceIds = refs.map(({ workspaceId }) => workspaceId);
  const first = await findFirstMessage(db, { workspaceIds, ids }, now);
  // Steps of a campaign may run on machines whose clocks differ. Without such a message there are no events to read.
  const lowestId = first
    ? firstIdAt(new Date(timeOfId(first).getTime() - CLOCK_DIFFERENCE_SECONDS * 1_000))
    : lastId;
  const lately = (type: string) => sql`(
    select case when count(*) < ${MOST_COUNTED} then count(*)
      else count(*) * ${RATE_SECONDS} / greatest(1, extract(epoch from ${now}::timestamptz - min(time))) end::int
    from (
      select e.time from message_events e
      where e.workspace_id = c.workspace_id and e.campaign_id = c.id and e.type = ${type}
        and e.message_id >= ${lowestId}
        and e.time > ${now}::timestamptz - make_interval(secs => ${RATE_SECONDS})
      order by e.time desc limit ${MOST_COUNTED}) newest)`;
  return db.rows(
    sql`
    with wanted as (
      select * from unnest(${workspaceIds}::uuid[], ${ids}::uuid[]) as w (workspace_id, id)
    ), held as materialized (
      select q.workspace_id, q.campaign_id, count(*) filter (where q.attempts = 0)::int as held_new,
        count(*) filter (where q.attempts > 0)::int as held_again
      from delivery_queue q where q.leased_by is not null and q.campaign_id = any (${ids}::uuid[])
      group by 1, 2
    )
    select c.workspace_id, c.id, c.status, c.pause_reason, s.is_suspended, c.waits_for_cap, c.scheduled_at, c.sent_at,
      c.completed_at, c.expanded_at is not null as is_expanded, c.estimated_recipients,
      c.excluded_suppressed, c.excluded_unsubscribed, c.excluded_invalid, c.excluded_duplicate,
      coalesce(n.queued, 0) as queued, coalesce(n.deferred, 0) as deferred, coalesce(n.delivered, 0) as delivered,
      coalesce(n.bounced, 0) as bounced, coalesce(n.failed, 0) as failed, coalesce(n.suppressed, 0) as suppressed,
      coalesce(n.cancelled, 0) as cancelled, coalesce(n.complained, 0) as complained, coalesce(n.sent, 0) as sent,
      coalesce(n.unique_opens, 0) as unique_opens, coalesce(n.unique_clicks, 0) as unique_clicks,
      coalesce(n.unsubscribed, 0) as unsubscribed,
      coalesce(h.held_new, 0) as held_new, coalesce(h.held_again, 0) as held_again,
      case when m.moves then ${lately("delivered")} + ${lately("bounced")} + ${lately("failed")} else 0 end as finished_lately,
      case when m.moves then ${lately("deferred")} else 0 end as deferred_lately,
      b.held_back, d.last_deferral
    from wanted
    join campaigns c on c.workspace_id = wanted.workspace_id and c.id = wanted.id and c.deleted_at is null
    join workspaces s on s.id = c.workspace_id
    left join campaign_counters n on n.workspace_id = c.workspace_id and n.campaign_id = c.id
    left join held h on h.workspace_id = c.workspace_id and h.campaign_id = c.id
    cross join lateral (
      select c.status in ('sending', 'sent', 'paused') and coalesce(n.queued + n.deferred, 0) > 0 as is_open,
        c.status in ('sending', 'sent') and c.sent_at is not null
          and coalesce(c.completed_at, ${now}) > ${now}::timestamptz - make_interval(days => ${MOVING_DAYS}) as moves) m
    left join lateral (
      select case when exists (
          select from sending_ips i where i.ip = f.source_ip and i.warm_up_started_at is not null)
        then 'warm_up' else 'sending_ip' end as held_back
      from (
        select q.campaign_id, q.source_ip from delivery_queue q
        where q.workspace_id = c.workspace_id and q.source_ip is not null and q.attempts = 0
        order by q.message_id limit ${MOST_HELD_BACK}) f
      where f.campaign_id = c.id limit 1) b on m.is_open and c.status = 'sending'
    left join lateral (
      select json_build_object('time', to_char(e.time at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
        'domain', l.domain, 'mx_host', e.mx_host, 'code', e.code, 'enhanced_code', e.enhanced_code, 'text', e.detail)
        as last_deferral
      from message_events e
      left join messages l on l.workspace_id = e.workspace_id and l.id = e.message_id and l.id >= ${lowestId}
      where e.workspace_id = c.workspace_id and e.campaign_id = c.id and e.type = 'deferred'
        and e.message_id >= ${lowestId}
        and e.time > ${now}::timestamptz - make_interval(secs => ${DEFERRAL_SECONDS})
      order by e.time desc limit 1) d on m.is_open`,
    "campaign progress",
  );
}

/**
 * The first message of the campaigns that may still have events. Known beforehand, it spares the statement above the older
 * days of the log.
 */
async function findFirstMessage(
  db: Queryable,
  { workspaceIds, ids }: { readonly workspaceIds: readonly WorkspaceId[]; readonly ids: readonly string[] },
  now: Date,
): Promise<string | undefined> {
  const row = await db.row<{ id: string }>(
    sql`
    select first.message_id as id
    from unnest(${[...workspaceIds]}::uuid[], ${[...ids]}::uuid[]) as w (workspace_id, id)
    join campaigns c on c.workspace_id = w.workspace_id and c.id = w.id and c.status in ('sending', 'sent', 'paused')
    join campaign_counters n on n.workspace_id = c.workspace_id and n.campaign_id = c.id
    cross join lateral (
      select message_id from campaign_recipients r
      where r.workspace_id = c.workspace_id and r.campaign_id = c.id order by subscriber_id limit 1) first
    where n.queued + n.deferred > 0
      or coalesce(c.completed_at, ${now}) > ${now}::timestamptz - make_interval(days => ${MOVING_DAYS})
    order by id limit 1`,
    "first message of campaigns",
  );
  return row?.id;
}

/** A domain with more messages than most, or all others together. */
export interface DomainProgress {
  readonly queued: number;
  readonly deferred: number;
  readonly delivered: number;
  readonly bounced: number;
  readonly failed: number;
  readonly suppressed: number;
  readonly cancelled: number;
}

/**
 * The `most` domains with the most messages, largest first, and then one row without a domain for all others. That row is
 * the difference to the counters of the campaign: to sum 50,000 domains would take longer than all the rest.
 */
export function listDomainProgress(
  db: Queryable,
  { workspaceId, id }: CampaignRef,
  most: number,
): Promise<(DomainProgress & { readonly domain: string | null; readonly domains: number })[]> {
  const ofCampaign = sql`workspace_id = ${workspaceId} and campaign_id = ${id}`;
  return db.rows(
    sql`
    with largest as materialized (
      select domain, queued, deferred, delivered + complained as delivered, bounced, failed, suppressed, cancelled
      from campaign_domains where ${ofCampaign}
      order by queued + deferred + delivered + complained + bounced + failed + suppressed + cancelled desc,
        domain collate "C"
      limit ${most}
    ), listed as (
      select count(*)::bigint as domains, coalesce(sum(queued), 0)::bigint as queued, coalesce(sum(deferred), 0)::bigint as deferred,
        coalesce(sum(delivered), 0)::bigint as delivered, coalesce(sum(bounced), 0)::bigint as bounced,
        coalesce(sum(failed), 0)::bigint as failed, coalesce(sum(suppressed), 0)::bigint as suppressed,
        coalesce(sum(cancelled), 0)::bigint as cancelled
      from largest
    )
    select domain, 1 as domains, queued, deferred, delivered, bounced, failed, suppressed, cancelled from largest
    union all
    select null, (select count(*)::int from campaign_domains where ${ofCampaign}) - l.domains, n.queued - l.queued,
      n.deferred - l.deferred, n.delivered + n.complained - l.delivered, n.bounced - l.bounced, n.failed - l.failed,
      n.suppressed - l.suppressed, n.cancelled - l.cancelled
    from listed l, campaign_counters n where n.workspace_id = ${workspaceId} and n.campaign_id = ${id}`,
    "campaign progress by domain",
  );
}

/** Campaigns to fewer people say little about the speed. */
const FEWEST_PEOPLE = 100;
const LAST_CAMPAIGNS = 5;

/** Messages a second over the last campaigns that were sent; null when there is none. */
export async function findSendingSpeed(db: Queryable, workspaceId: WorkspaceId): Promise<number | null> {
  const row = await db.row<{ speed: number | null }>(sql`
    select sum(total_recipients) / nullif(sum(greatest(1, extract(epoch from completed_at - sent_at))), 0)::float8 as speed
    from (
      select total_recipients, completed_at, sent_at from campaigns
      where workspace_id = ${workspaceId} and status = 'sent' and message_type = 'email'
        and total_recipients >= ${FEWEST_PEOPLE} and completed_at is not null and sent_at is not null
      order by id desc limit ${LAST_CAMPAIGNS}) last`);
  return row?.speed ?? null;
}

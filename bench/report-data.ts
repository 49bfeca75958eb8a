/**
 * Test data for reports: ninety days of mail of one large workspace and a few small ones, with campaigns sent within a
 * minute, few recipient domains with most of the mail, bounces, complaints, and queued messages. The log is inserted
 * first; then one statement fills each counter table from it.
 */

import sql, { join, raw, type Sql } from "sql-template-tag";
import { counters, engagementCounters, eventCounters } from "#messages/counters/counters.ts";
import { countedKeysSql, DAY, EIGHTH, quarterOf, WEEK } from "#messages/counters/deltas-store.ts";
import { storedStatuses } from "#messages/message/status.ts";
import { ensurePartitions } from "#messages/partitions/create-partitions.ts";
import { systemClock } from "#platform/clock.ts";
import type { Database, Queryable } from "#platform/database/pool.ts";
import { newId, nilId, type WorkspaceId } from "#platform/ids.ts";
import { DAY_MS } from "#platform/time-units.ts";
import { createWorkspace } from "#workspace/create-workspace.ts";
import type { BenchSetup } from "./setup.ts";
import { withoutIndexes } from "./without-indexes.ts";

export const DAYS = 90;
const DOMAINS = 2_000;
const PEOPLE = 2_000_000;
/** The log has so many sections of equal length. Each begins with a campaign, which is three fifths of it. */
const SECTIONS = 100;
/** The campaigns of these sections are one. */
const LARGE = { first: 41, last: 50 };
const SMALL_WORKSPACES = 3;

export interface ReportData {
  /** The largest campaign. */
  readonly campaignId: string;
  /** An address that got mail of that campaign. */
  readonly wholeAddress: string;
}

/** @param db a connection without statement timeouts */
export async function makeReportData(db: Database, setup: BenchSetup, messages: number): Promise<ReportData> {
  const { workspaceId } = setup;
  const now = new Date();
  for (let day = DAYS; day > 0; day--) {
    await ensurePartitions(setup.database, new Date(now.getTime() - day * DAY_MS));
  }
  const small: WorkspaceId[] = [];
  for (let at = 1; at <= SMALL_WORKSPACES; at++) {
    const settings = { name: `Small ${at}`, timezone: "UTC", plan: "enterprise" } as const;
    small.push((await createWorkspace(setup.database, settings, systemClock)).workspace.id);
  }
  const campaigns = Array.from({ length: SECTIONS }, newId);
  const plan = { workspaceId, small, campaigns, now, messages };
  await withoutIndexes(db, ["messages"], () => insertLog(db, plan));
  await db.run(sql`vacuum analyze messages`);
  await insertCampaigns(db, workspaceId, campaigns);
  const campaignId = campaigns[LARGE.first] ?? "";
  await insertRecipients(db, workspaceId, campaignId);
  await insertQueue(db);
  await insertFeedback(db, now);
  await db.transaction(fillCounters);
  await fillCampaignCounters(db, workspaceId, campaignId);
  await db.run(sql`vacuum analyze`);
  await db.run(sql`checkpoint`);
  const person = await db.row<{ email: string }>(sql`
    select localpart || '@' || domain as email
    from messages join campaign_recipients r on r.message_id = id and r.workspace_id = messages.workspace_id limit 1`);
  return { campaignId, wholeAddress: person?.email ?? "" };
}

interface Plan {
  readonly workspaceId: WorkspaceId;
  readonly small: readonly WorkspaceId[];
  readonly campaigns: readonly string[];
  readonly now: Date;
  readonly messages: number;
}

/** Parts that are inserted concurrently. */
const AT_ONCE = 4;

async function insertLog(db: Queryable, plan: Plan): Promise<void> {
  const size = Math.ceil(plan.messages / AT_ONCE);
  await Promise.all(
    Array.from({ length: AT_ONCE }, (_, at) =>
      insertPart(db, plan, { from: at * size, to: Math.min((at + 1) * size, plan.messages) }),
    ),
  );
}

/** Inserts messages in order of time: a campaign within a minute, the rest of a section evenly. */
async function insertPart(
  db: Queryable,
  { workspaceId, small, campaigns, now, messages }: Plan,
  { from, to }: { readonly from: number; readonly to: number },
): Promise<void> {
  const section = Math.ceil(messages / SECTIONS);
  const ofCampaign = Math.floor(section * 0.6);
  const sectionMs = (DAYS * DAY_MS) / SECTIONS;
  // All parts use the same origins.
  const origins = [...small, ...campaigns].slice(0, 12);
  await db.run(sql`
    insert into messages (workspace_id, id, source, origin_id, origin_name, from_email, localpart, domain, subject,
      status, previous_status, attempts, error_message, next_attempt_at, source_ip, created_at, updated_at)
    select
      case when is_small then (${small}::uuid[])[1 + (number % ${SMALL_WORKSPACES})::int] else ${workspaceId}::uuid end,
      (lpad(to_hex(ms), 12, '0') || '7' || lpad(to_hex(number & 4095), 3, '0') || '8' || lpad(to_hex(number), 15, '0'))::uuid,
      source,
      case source
        when 'campaign' then (${campaigns}::uuid[])[1 + (case when section between ${LARGE.first} and ${LARGE.last} then ${LARGE.first} else section end)::int]
        when 'platform' then null
        when 'api' then (${origins}::uuid[])[1 + (number % 5)::int]
        when 'smtp' then (${origins}::uuid[])[6 + (number % 3)::int]
        else (${origins}::uuid[])[9 + (number % 4)::int] end,
      'Origin', 'news@brand' || number % 3 || '.test',
      'person.' || (random() * ${PEOPLE})::int, 'mail' || power(${DOMAINS}, random())::int || '.test',
      'A subject of the usual length', status,
      case when status not in ('queued', 'suppressed') then 'queued' end,
      (status not in ('queued', 'suppressed', 'cancelled'))::int,
      case when status in ('bounced', 'failed', 'deferred') then '550 5.1.1 The mailbox does not exist' end,
      case when status = 'deferred' then ${now}::timestamptz + interval '10 minutes' end,
      case when status in ('delivered', 'bounced', 'failed', 'complained') then '192.0.2.1'::inet + number % 4 end,
      to_timestamp(ms / 1000.0), to_timestamp(ms / 1000.0) + interval '3 seconds'
    from (
      select number, number / ${section} as section, number % 100 < 2 and not is_campaign as is_small,
        (${now.getTime() - DAYS * DAY_MS} + number / ${section} * ${sectionMs}::float8
          + case when is_campaign then place * 60000.0::float8 / ${ofCampaign}
              else 60000 + (place - ${ofCampaign}) * ${sectionMs - 120_000}::float8 / ${section - ofCampaign} end)::bigint as ms,
        case when is_campaign then 'campaign' when kind < 0.001 then 'platform' when kind < 0.7 then 'api'
          when kind < 0.9 then 'smtp' else 'autoresponder' end as source,
        case
          when number > ${messages} * 0.997 and chance < 0.5 then 'queued'
          when number > ${messages} * 0.997 and chance < 0.6 then 'deferred'
          when chance < 0.958 then 'delivered' when chance < 0.98 then 'bounced' when chance < 0.9805 then 'complained'
          when chance < 0.985 then 'failed' when chance < 0.997 then 'suppressed' else 'cancelled' end as status
      from (
        select number, number % ${section} as place, number % ${section} < ${ofCampaign} as is_campaign,
          random() as kind, random() as chance
        from generate_series(${from}::bigint, ${to - 1}::bigint) number) numbers) mail`);
}

async function insertCampaigns(
  db: Queryable,
  workspaceId: WorkspaceId,
  campaigns: readonly string[],
): Promise<void> {
  await db.run(sql`
    insert into campaigns (workspace_id, id, name, subject, from_email, message_type, recipient_type,
      use_custom_headers, status, sent_at, created_at, updated_at)
    select ${workspaceId}, id, 'Campaign', 'Hello', 'news@brand1.test', 'email', 'mailing_list', false, 'sent', now(),
      now(), now()
    from unnest(${campaigns}::uuid[]) id`);
}

/** Inserts the recipients of a campaign in the order of its messages. */
async function insertRecipients(db: Queryable, workspaceId: WorkspaceId, campaignId: string): Promise<void> {
  await db.run(sql`
    insert into campaign_recipients (workspace_id, campaign_id, subscriber_id, message_id)
    select workspace_id, origin_id, lpad(to_hex(row_number() over (order by id)), 32, '0')::uuid, id
    from messages where workspace_id = ${workspaceId} and source = 'campaign' and origin_id = ${campaignId}`);
}

/** Inserts the queue rows; 200 of them are leased. */
async function insertQueue(db: Queryable): Promise<void> {
  await db.run(sql`
    insert into delivery_queue (workspace_id, message_id, priority, domain, bytes, due_at, expires_at, attempts,
      campaign_id, leased_by)
    select workspace_id, id, (source = 'campaign')::int, domain, 10000, now() + interval '1 day',
      now() + interval '3 days', attempts, case when source = 'campaign' then origin_id else ${nilId}::uuid end,
      case when row_number() over (order by id desc) <= 200 then ${newId()}::uuid end
    from messages where status in ('queued', 'deferred')`);
}

/** Inserts bounces, complaints, opens and clicks. */
async function insertFeedback(db: Queryable, now: Date): Promise<void> {
  const later = sql`least(created_at + random() * interval '6 hours', ${now}::timestamptz)`;
  const campaign = sql`case when source = 'campaign' then origin_id end`;
  await db.run(sql`
    insert into bounces (workspace_id, id, message_id, localpart, domain, bounce_type, category, smtp_code,
      enhanced_code, error_message, source, campaign_id, origin_name, created_at)
    select workspace_id, gen_random_uuid(), id, localpart, domain, kind[1], kind[2], 550, '5.1.1', 'No such mailbox',
      source, ${campaign}, origin_name, ${later}
    from (
      select *, case when random() < 0.6 then array['hard', 'UserUnknown'] when random() < 0.6
        then array['soft', 'MailboxFull'] else array['block', 'SpamBlock'] end as kind
      from messages where status = 'bounced' and source <> 'platform') m`);
  await db.run(sql`
    insert into complaints (workspace_id, id, message_id, localpart, domain, feedback_type, source, campaign_id,
      origin_name, created_at)
    select workspace_id, gen_random_uuid(), id, localpart, domain, 'abuse', source, ${campaign}, origin_name, ${later}
    from messages where status = 'complained' and source <> 'platform'`);
  await db.run(sql`
    insert into message_events (workspace_id, message_id, id, type, time, detail, campaign_id)
    select workspace_id, id, gen_random_uuid(), type, ${later}, null, ${campaign}
    from messages, lateral (values (status), ('opened'), ('clicked')) event (type)
    where source <> 'platform' and status in ('delivered', 'bounced', 'complained')
      and (type not in ('opened', 'clicked') and source = 'campaign' and hashtext(id::text) % 10 = 0
        or type = 'opened' and hashtext(id::text) % 8 = 0 or type = 'clicked' and hashtext(id::text) % 64 = 0)`);
}

const named = (columns: readonly string[]): Sql => join(columns.map((column) => raw(column)));

/** Counts the log once by all dimensions, and fills each counter table from the result. */
async function fillCounters(db: Queryable): Promise<void> {
  await db.run(sql`set local work_mem = '256MB'`);
  const keys = ["workspace_id", "quarter", "source", "origin_id", "domain", "from_domain"];
  const unique = { unique_opens: "opened", unique_clicks: "clicked", opens: "opened", clicks: "clicked" };
  const zeros = (columns: readonly string[]) => join(columns.map((column) => sql`0 as ${raw(column)}`));
  const counted = (columns: readonly string[], where: (column: string) => Sql) =>
    join(columns.map((column) => sql`count(*) filter (where ${where(column)}) as ${raw(column)}`));
  const did = (column: string) => {
    const type = Object.entries(unique).find(([name]) => name === column)?.[1];
    return type === undefined ? sql`false` : sql`e.type = ${type}`;
  };
  const none = zeros([...storedStatuses, ...engagementCounters]);
  const came = (table: string, columns: Sql) => sql`
    select m.workspace_id, ${quarterOf(sql`b.created_at`)} as quarter, m.source, counted_origin_id, m.domain, from_domain,
      ${none}, ${columns}
    from ${raw(table)} b join mail m on m.workspace_id = b.workspace_id and m.id = b.message_id group by 1, 2, 3, 4, 5, 6`;
  await db.run(sql`
    create unlogged table counted as
    with mail as (${countedKeysSql(sql`messages`)})
    select workspace_id, quarter, source, counted_origin_id as origin_id, domain, from_domain,
      ${counted(storedStatuses, (status) => sql`status = ${status}`)}, ${zeros([...engagementCounters, ...eventCounters])}
    from mail group by 1, 2, 3, 4, 5, 6
    union all
    select m.workspace_id, quarter, source, counted_origin_id, domain, from_domain, ${zeros(storedStatuses)},
      ${counted(engagementCounters, did)}, ${zeros(eventCounters)}
    from message_events e join mail m on m.workspace_id = e.workspace_id and m.id = e.message_id
    where e.type in ('opened', 'clicked') group by 1, 2, 3, 4, 5, 6
    union all
    ${came("bounces", sql`${counted(["hard", "soft", "block"], (type) => sql`b.bounce_type = ${type}`)}, 0`)}
    union all
    ${came("complaints", sql`0, 0, 0, count(*)`)}`);
  const sums = (columns: readonly string[]) =>
    join(columns.map((column) => sql`sum(${raw(column)}) as ${raw(column)}`));
  const fill = (table: string, values: readonly string[], to: readonly string[] = values) =>
    db.run(sql`
      insert into ${raw(table)} (${named(to)}, ${named(counters)})
      select ${named(values)}, ${sums(counters)} from counted group by ${named(values)} order by ${named(values)}`);
  await fill("report_quarters", keys.slice(0, 3));
  await fill("report_eighths", ["workspace_id", EIGHTH, "source"], ["workspace_id", "eighth", "source"]);
  await fill("report_origins", ["workspace_id", "source", "origin_id"]);
  await fill("report_domain_days", ["workspace_id", DAY, "domain"], ["workspace_id", "day", "domain"]);
  await fill("report_domain_weeks", ["workspace_id", WEEK, "domain"], ["workspace_id", "week", "domain"]);
  await fill(
    "report_sender_days",
    ["workspace_id", DAY, "from_domain"],
    ["workspace_id", "day", "from_domain"],
  );
  await db.run(sql`drop table counted`);
  await db.run(sql`
    insert into report_ip_days (workspace_id, day, source_ip, ${named(storedStatuses)})
    select workspace_id, ${raw(DAY)}, source_ip, ${counted(storedStatuses, (status) => sql`status = ${status}`)}
    from (${countedKeysSql(sql`messages`)}) m where source_ip is not null group by 1, 2, 3`);
  await db.run(sql`
    insert into report_category_days (workspace_id, day, bounce_type, category, bounces)
    select workspace_id, (created_at at time zone 'UTC')::date, bounce_type, category, count(*) from bounces
    group by 1, 2, 3, 4`);
}

async function fillCampaignCounters(
  db: Queryable,
  workspaceId: WorkspaceId,
  campaignId: string,
): Promise<void> {
  const ofEvents = (type: string) => sql`
    (select count(*) from message_events
      where workspace_id = ${workspaceId} and campaign_id = ${campaignId} and type = ${type})`;
  const statuses = join(storedStatuses.map((status) => sql`count(*) filter (where status = ${status})`));
  const mail = sql`messages where workspace_id = ${workspaceId} and source = 'campaign' and origin_id = ${campaignId}`;
  await db.run(sql`
    insert into campaign_counters (workspace_id, campaign_id, ${named(storedStatuses)}, sent, hard_bounced, opens, clicks,
      activities)
    select ${workspaceId}, ${campaignId}, ${statuses}, count(*) filter (where attempts > 0),
      (select count(*) from bounces
        where workspace_id = ${workspaceId} and campaign_id = ${campaignId} and bounce_type = 'hard'),
      ${ofEvents("opened")}, ${ofEvents("clicked")},
      (select count(*) from message_events where workspace_id = ${workspaceId} and campaign_id = ${campaignId})
    from ${mail}`);
  await db.run(sql`
    insert into campaign_domains (workspace_id, campaign_id, domain, ${named(storedStatuses)})
    select ${workspaceId}, ${campaignId}, domain, ${statuses} from ${mail} group by domain`);
  const ofHour = (...types: readonly string[]) =>
    sql`count(*) filter (where type = any (${[...types]}::text[]))`;
  await db.run(sql`
    insert into campaign_hours (workspace_id, campaign_id, hour, sent, opens, clicks, complaints)
    select ${workspaceId}, ${campaignId}, date_trunc('hour', time, 'UTC'),
      ${ofHour("delivered", "bounced", "complained")}, ${ofHour("opened")}, ${ofHour("clicked")}, ${ofHour("complained")}
    from message_events where workspace_id = ${workspaceId} and campaign_id = ${campaignId} group by 3`);
}

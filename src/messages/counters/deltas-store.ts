/**
 * Counter deltas: each statement that writes to the message log also inserts what it changes in the report counters
 * (table report_notes). The insert takes no locks; a job applies the deltas later (apply-deltas-store.ts).
 */

import sql, { join, raw, type Sql } from "sql-template-tag";
import { domainOf } from "#mail/address.ts";
import { type MessageOrigin, storedStatuses } from "#messages/message/status.ts";
import { nilId } from "#platform/ids.ts";
import { columnsSql, eventCounters } from "./counters.ts";

const binOf = (width: string, time: Sql): Sql =>
  sql`date_bin('${raw(width)}', ${time}, timestamptz '2000-01-01 00:00:00Z')`;

/** The quarter-hour that contains a time: days of all time zones begin with one. */
export const quarterOf = (time: Sql): Sql => binOf("15 minutes", time);

/** The eighth of a UTC day (three hours) that contains a time. */
export const eighthOf = (time: Sql): Sql => binOf("3 hours", time);

/** For the column `quarter`: the eighth that contains it, its UTC day, and the Monday of its week. */
export const EIGHTH = eighthOf(raw("quarter")).text;
export const DAY = "(quarter at time zone 'UTC')::date";
export const WEEK = "date_trunc('week', quarter at time zone 'UTC')::date";

const keys = sql`workspace_id, quarter, source, origin_id, domain, from_domain`;

/**
 * Messages with the keys of their counters, from the columns of the log. Platform mail is not counted, as it is not
 * billed.
 */
export const countedKeysSql = (messages: Sql): Sql => sql`
  select *, ${quarterOf(sql`created_at`)} as quarter, coalesce(origin_id, ${nilId}) as counted_origin_id,
    lower(split_part(from_email, '@', -1)) as from_domain
  from ${messages} where source <> 'platform'`;

const messageKeys = sql`workspace_id, quarter, source, counted_origin_id, domain, from_domain`;

/** Deltas of accepted messages: log rows with their status. */
export function addAcceptedDeltasSql(log: Sql): Sql {
  return sql`
    insert into report_notes (${keys}, queued, suppressed)
    select ${messageKeys}, count(*) filter (where status = 'queued'), count(*) filter (where status = 'suppressed')
    from (${countedKeysSql(log)}) a group by ${messageKeys}`;
}

/**
 * Deltas of messages that one origin queues at once.
 * @param byDomain a relation with domain and queued (how many messages the domain gets)
 */
export function addQueuedDeltasSql(
  byDomain: Sql,
  origin: Pick<MessageOrigin, "workspaceId" | "source" | "originId" | "fromEmail" | "createdAt">,
): Sql {
  return sql`
    insert into report_notes (${keys}, queued)
    select ${origin.workspaceId}, ${quarterOf(sql`${origin.createdAt}::timestamptz`)}, ${origin.source}, ${origin.originId},
      domain, ${domainOf(origin.fromEmail)}, queued
    from ${byDomain}`;
}

/**
 * Deltas of messages whose status changed. Equal rows are counted first: a batch has many messages and few kinds.
 * @param moved a relation of log rows with status and source_ip, both also as before (previous_…), and with time,
 * bounce_type and category of the outcome
 */
export function addStatusDeltasSql(moved: Sql): Sql {
  const none = sql`null::text as bounce_type, null::text as category`;
  const sum = (condition: string) => sql`coalesce(sum(times) filter (where ${raw(condition)}), 0)`;
  const difference = (status: string) => sql`${sum(`became = '${status}'`)} - ${sum(`was = '${status}'`)}`;
  const happened = (event: string) => sum(`event = '${event}'`);
  const alike = sql`
    select workspace_id, created_at, source, origin_id, domain, from_email, source_ip, previous_source_ip, status,
      previous_status, ${quarterOf(sql`time`)} as moved_quarter, bounce_type, category, count(*) as times
    from ${moved} group by 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13`;
  return sql`
    insert into report_notes (${keys}, source_ip, bounce_type, category,
      ${columnsSql([...storedStatuses, ...eventCounters])})
    select ${keys}, source_ip, bounce_type, category, ${join(storedStatuses.map(difference))},
      ${join(eventCounters.map(happened))}
    from (
      select m.workspace_id, m.times, n.* from (${countedKeysSql(sql`(${alike}) alike`)}) m cross join lateral (
        select m.quarter, m.source, m.counted_origin_id, m.domain, m.from_domain, null::inet, ${none},
          m.status, m.previous_status, null
        where m.status <> m.previous_status
        union all
        select m.moved_quarter, m.source, m.counted_origin_id, m.domain, m.from_domain, null, m.bounce_type,
          m.category, null, null, coalesce(m.bounce_type || '_bounces', 'complaints')
        where m.status = 'complained' or m.status = 'bounced' and m.previous_status <> 'bounced'
        union all
        select m.quarter, null, null, null, null, m.source_ip, ${none}, m.status, null, null
        where m.source_ip is not null
        union all
        select m.quarter, null, null, null, null, m.previous_source_ip, ${none}, null, m.previous_status, null
        where m.previous_source_ip is not null)
        as n (quarter, source, origin_id, domain, from_domain, source_ip, bounce_type, category, became, was, event)
    ) changes
    group by 1, 2, 3, 4, 5, 6, 7, 8, 9`;
}

/**
 * Deltas of bounces that were reclassified.
 * @param hardened a relation as in addStatusDeltasSql, with former_type, former_category and the time of the bounce
 * (bounced_at)
 */
export function addBounceTypeDeltasSql(hardened: Sql): Sql {
  const times = (type: string) =>
    sql`coalesce(sum(times) filter (where bounce_type = ${raw(`'${type}'`)}), 0)`;
  return sql`
    insert into report_notes (${keys}, bounce_type, category, hard_bounces, soft_bounces, block_bounces)
    select ${messageKeys}, bounce_type, category, ${times("hard")}, ${times("soft")}, ${times("block")}
    from (${countedKeysSql(sql`(
      select workspace_id, bounced_at as created_at, source, origin_id, domain, from_email, v.bounce_type, v.category,
        times
      from ${hardened} h cross join lateral (values
        (former_type, former_category, -1), (h.bounce_type, h.category, 1)) v (bounce_type, category, times)) changed`)}) c
    group by ${messageKeys}, bounce_type, category`;
}

/**
 * Deltas of opens and clicks. A click also counts as an open.
 * @param engaged a relation of log rows with kind, is_machine, times, and whether it is the first of its kind by a
 * person (is_first) or the first open or click by a person (is_first_sign)
 */
export function addEngagementDeltasSql(engaged: Sql): Sql {
  const times = (kind: string, isMachine: boolean) =>
    sql`coalesce(sum(times) filter (where kind = ${raw(`'${kind}'`)} and is_machine = ${raw(String(isMachine))}), 0)`;
  return sql`
    insert into report_notes (${keys}, unique_opens, unique_clicks, opens, clicks, machine_opens, machine_clicks)
    select ${messageKeys}, count(*) filter (where is_first_sign),
      count(*) filter (where kind = 'clicked' and is_first), ${times("opened", false)},
      ${times("clicked", false)}, ${times("opened", true)}, ${times("clicked", true)}
    from (${countedKeysSql(engaged)}) e group by ${messageKeys}`;
}

/**
 * Deltas of unsubscribes.
 * @param left a relation of the log rows through which recipients unsubscribed
 */
export function addUnsubscribeDeltasSql(left: Sql): Sql {
  return sql`
    insert into report_notes (${keys}, unsubscribed)
    select ${messageKeys}, count(*) from (${countedKeysSql(left)}) u group by ${messageKeys}`;
}

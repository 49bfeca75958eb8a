/** Why messages wait in the delivery queue, over all workspaces. The statement reads a bounded number of rows. */
import sql from "sql-template-tag";
import type { Queryable } from "#platform/database/pool.ts";

/** Messages of the queue that are looked at. Of a longer queue they are a sample. */
export const MOST_SAMPLED = 20_000;
const MOST_GROUPS = 10;

type WaitOfMany =
  | "workspace_suspended"
  | "paused"
  /** After an attempt; the reply says why. */
  | "deferred"
  /** For a sending IP with quota, or for the machine that has it. */
  | "sending_ip";

/** Messages that are due later without a reason above have one of the last two reasons. */
export type QueueWaitReason =
  | WaitOfMany
  /** For the time that the sender has chosen. */
  | "scheduled"
  /** Put back because the lane is paused or full. */
  | "lane";

export type QueueState = WaitOfMany | "due" | "due_later";

/** Messages that wait for the same reason. */
export interface WaitingMessages {
  readonly reason: QueueWaitReason;
  /** The recipient domain, or the name of a suspended workspace; null for paused campaigns and autoresponders. */
  readonly place: string | null;
  readonly messages: number;
  /** When the first of them is due, in ISO 8601. */
  readonly due_at: string;
  /** The last reply to one of them; null without an attempt. */
  readonly reply: string | null;
}

export interface QueueSample {
  /** Messages that were looked at. */
  readonly messages: number;
  /** How many wait for each reason. */
  readonly reasons: Readonly<Partial<Record<QueueState, number>>>;
  /** The groups with the most messages. Those that are due wait for nothing. */
  readonly groups: readonly WaitingMessages[];
}

/** @param paused campaigns and autoresponders whose messages are not sent */
export async function sampleQueue(db: Queryable, paused: readonly string[]): Promise<QueueSample> {
  const row = await db.row<QueueSample>(
    sql`
    with queued as materialized (
      select workspace_id, message_id, campaign_id, domain, due_at, attempts, source_ip
      from delivery_queue where leased_by is null limit ${MOST_SAMPLED}
    ), explained as materialized (
      select q.*, w.name, case
          when w.is_suspended then 'workspace_suspended'
          when q.campaign_id = any (${[...paused]}::uuid[]) then 'paused'
          when q.due_at <= now() then 'due'
          when q.attempts > 0 then 'deferred'
          when q.source_ip is not null then 'sending_ip'
          else 'due_later' end as reason
      from queued q left join workspaces w on w.id = q.workspace_id
    ), foremost as materialized (
      select reason, case reason when 'workspace_suspended' then name when 'paused' then null else domain end as place,
        count(*)::int as messages, min(due_at) as due_at,
        (array_agg(workspace_id order by message_id desc))[1] as workspace_id,
        (array_agg(message_id order by message_id desc))[1] as message_id
      from explained where reason <> 'due' group by 1, 2 order by messages desc, place limit ${MOST_GROUPS}
    ), described as (
      select place, messages, due_at,
        case when reason <> 'due_later' then reason
          when exists (select from messages m where m.workspace_id = f.workspace_id and m.id = f.message_id
            and (m.email_details ->> 'scheduled_at')::timestamptz > now()) then 'scheduled'
          else 'lane' end as reason,
        (select e.detail from message_events e
          where f.reason = 'deferred' and e.workspace_id = f.workspace_id and e.message_id = f.message_id
            and e.type = 'deferred' order by e.id desc limit 1) as reply
      from foremost f
    )
    select (select count(*)::int from queued) as messages,
      (select coalesce(jsonb_object_agg(reason, count), '{}') from (
        select reason, count(*) as count from explained group by reason) r) as reasons,
      (select coalesce(jsonb_agg(to_jsonb(d) order by d.messages desc, d.place), '[]') from described d) as groups`,
    "sample of the queue",
  );
  return row ?? { messages: 0, reasons: {}, groups: [] };
}

/** How many campaigns are sending and wait for the hourly cap of their workspace. */
export async function countCappedCampaigns(db: Queryable): Promise<number> {
  const row = await db.row<{ count: number }>(sql`
    select count(*)::int as count from campaigns where status = 'sending' and waits_for_cap`);
  return row?.count ?? 0;
}

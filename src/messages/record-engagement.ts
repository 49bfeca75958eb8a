/**
 * Records opens, clicks and unsubscribes: writes their events and counter deltas, and calls `onEngaged` in the same
 * transaction.
 */
import sql from "sql-template-tag";
import type { Queryable } from "#platform/database/pool.ts";
import { newId, type WorkspaceId } from "#platform/ids.ts";
import { addEngagementDeltasSql, addUnsubscribeDeltasSql } from "./counters/deltas-store.ts";
import { inSpanOfSql } from "./partitions/ids-span.ts";

/** Opens or clicks of a message that arrived together. */
export interface Engagement {
  readonly workspaceId: WorkspaceId;
  readonly messageId: string;
  readonly kind: "opened" | "clicked";
  /** Time of the first. */
  readonly time: Date;
  readonly times: number;
  /** Position of the link in the mail; null for an open. */
  readonly linkIndex: number | null;
  /** Where the link led; null for an open. At most 500 characters are kept. */
  readonly target: string | null;
  /** The User-Agent; at most 200 characters are kept. */
  readonly userAgent: string;
  /** Why it is attributed to a program; null for a person. */
  readonly machineSign: string | null;
}

/** An engagement that was recorded. */
export interface Engaged {
  readonly workspaceId: WorkspaceId;
  readonly messageId: string;
  /** Null for messages of other channels. */
  readonly campaignId: string | null;
  /** Null for messages of other channels. */
  readonly autoresponderId: string | null;
  readonly kind: Engagement["kind"];
  readonly isMachine: boolean;
  readonly time: Date;
  readonly times: number;
  readonly linkIndex: number | null;
  readonly target: string | null;
}

/** Called with the recorded engagements, in the transaction that records them. */
export type OnEngaged = (tx: Queryable, engaged: readonly Engaged[]) => Promise<void>;

/**
 * Writes the events; those of programs have types of their own. An open or click before the end of a message's first
 * attempt is attributed to a program, because no recipient has the mail yet. Messages that are not in the log are
 * ignored.
 */
export async function recordEngagements(
  tx: Queryable,
  engagements: readonly Engagement[],
  onEngaged: OnEngaged,
): Promise<void> {
  if (engagements.length === 0) return;
  const column = <Value>(read: (engagement: Engagement) => Value) => engagements.map(read);
  const ids = column((one) => one.messageId);
  // Locks the messages first, so that of concurrent opens only one counts as the first.
  await tx.run(sql`
    select from messages m
    join unnest(${column((one) => one.workspaceId)}::uuid[], ${ids}::uuid[])
      as g (workspace_id, message_id) on m.workspace_id = g.workspace_id and m.id = g.message_id
    where true ${inSpanOfSql(sql`m.id`, ids)}
    order by m.id for no key update of m`);
  const kept = (text: string | null, most: number) => text?.slice(0, most).toWellFormed() ?? null;
  const engaged = await tx.rows<Engaged>(
    sql`
    with given as materialized (
      select g.*, m.source, m.origin_id, m.domain, m.from_email, m.created_at,
        case when m.source = 'campaign' then m.origin_id end as campaign_id,
        case when m.source = 'autoresponder' then m.origin_id end as autoresponder_id,
        coalesce(g.sign, case when m.status = 'queued' then 'early' end) as machine_sign
      from unnest(
        ${column((one) => one.workspaceId)}::uuid[], ${ids}::uuid[],
        ${column(() => newId())}::uuid[], ${column((one) => one.kind)}::text[],
        ${column((one) => one.time)}::timestamptz[], ${column((one) => one.times)}::integer[],
        ${column((one) => one.linkIndex)}::smallint[], ${column((one) => kept(one.target, 500))}::text[],
        ${column((one) => kept(one.userAgent, 200))}::text[], ${column((one) => one.machineSign)}::text[])
        as g (workspace_id, message_id, event_id, kind, time, times, link_index, target, user_agent, sign)
      join messages m on m.workspace_id = g.workspace_id and m.id = g.message_id ${inSpanOfSql(sql`m.id`, ids)}
    ), events as (
      insert into message_events (workspace_id, message_id, id, type, time, detail, campaign_id, link_index, times,
        user_agent, machine_sign)
      select workspace_id, message_id, event_id, case when machine_sign is null then kind else 'machine_' || kind end,
        time, target, campaign_id, link_index, nullif(times, 1), user_agent, machine_sign
      from given
    ), deltas as (
      ${addEngagementDeltasSql(sql`(
        select g.*, machine_sign is not null as is_machine, machine_sign is null
          and row_number() over (partition by message_id, kind, machine_sign is null order by event_id) = 1
          and not exists (
            select from message_events e
            where e.workspace_id = g.workspace_id and e.message_id = g.message_id and e.type = g.kind
              ${inSpanOfSql(sql`e.message_id`, ids)}) as is_first,
          machine_sign is null
          and row_number() over (partition by message_id, machine_sign is null order by event_id) = 1
          and not exists (
            select from message_events e
            where e.workspace_id = g.workspace_id and e.message_id = g.message_id
              and e.type in ('opened', 'clicked') ${inSpanOfSql(sql`e.message_id`, ids)}) as is_first_sign
        from given g) engaged`)}
    )
    select workspace_id as "workspaceId", message_id as "messageId", campaign_id as "campaignId",
      autoresponder_id as "autoresponderId", kind,
      machine_sign is not null as "isMachine", time, times, link_index as "linkIndex", target
    from given`,
    "record engagements",
  );
  if (engaged.length > 0) await onEngaged(tx, engaged);
}

/** Records that a recipient unsubscribed through a message. */
export async function recordUnsubscribed(
  tx: Queryable,
  workspaceId: WorkspaceId,
  messageId: string,
  now: Date,
): Promise<void> {
  await tx.run(sql`
    with left_by as (
      select workspace_id, id, source, origin_id, domain, from_email, created_at
      from messages where workspace_id = ${workspaceId} and id = ${messageId}
    ), deltas as (
      ${addUnsubscribeDeltasSql(sql`left_by`)}
    )
    insert into message_events (workspace_id, message_id, id, type, time, campaign_id)
    select workspace_id, id, ${newId()}, 'unsubscribed', ${now}, case when source = 'campaign' then origin_id end
    from left_by`);
}

/**
 * Records that a recipient answered a message.
 * @param receivedId the id of the answer, not its address: another person than the recipient may have answered
 */
export async function recordReplied(
  tx: Queryable,
  workspaceId: WorkspaceId,
  {
    messageId,
    receivedId,
    now,
  }: { readonly messageId: string; readonly receivedId: string; readonly now: Date },
): Promise<void> {
  await tx.run(sql`
    insert into message_events (workspace_id, message_id, id, type, time, detail)
    select workspace_id, id, ${newId()}, 'replied', ${now}, ${receivedId}
    from messages where workspace_id = ${workspaceId} and id = ${messageId}`);
}

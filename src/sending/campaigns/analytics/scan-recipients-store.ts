/**
 * Finds recipients of a campaign by what they did. A call reads the newest recipients up to a maximum and says where it
 * stopped, so that the next call continues there: its cost is bounded, and no index is maintained with every open.
 */
import sql, { empty, join } from "sql-template-tag";
import { domainInALabels } from "#mail/address.ts";
import { readable, shows, storedAs } from "#messages/log-filter-store.ts";
import type { MessageStatus } from "#messages/message/status.ts";
import type { Page } from "#platform/database/page.ts";
import type { Queryable } from "#platform/database/pool.ts";
import { lastId, nilId, type WorkspaceId } from "#platform/ids.ts";

/** A call reads this many recipients. */
export const MOST_RECIPIENTS_READ = 10_000;

/** Undefined properties are not asked for. */
export interface RecipientFilter {
  readonly status?: MessageStatus | undefined;
  /** The recipient's address, or a part of it, in any case. */
  readonly email?: string | undefined;
  /** The recipient's domain, in either script. */
  readonly domain?: string | undefined;
  /** A click counts as an opening. */
  readonly opened?: boolean | undefined;
  readonly clicked?: boolean | undefined;
  /** The index of a link that the recipient clicked. */
  readonly link?: number | undefined;
  /** Whether a program opened or clicked. */
  readonly machine?: boolean | undefined;
  /** Whether the recipient unsubscribed through the mail. Those who did are few, and read alone along an index. */
  readonly unsubscribed?: boolean | undefined;
}

export interface ScannedRecipients {
  /** The message ids of a page, each with its sort key, the subscriber id. Newest first. */
  readonly rows: readonly { readonly id: string; readonly place: string }[];
  /** How many of the recipients that this call read have the properties. */
  readonly total: number;
  /** When the message of the last recipient that was read was accepted; null when all were read. */
  readonly since: Date | null;
  /** The subscriber id down to which recipients were read; null when all were. */
  readonly searchedTo: string | null;
}

export async function scanRecipients(
  db: Queryable,
  workspaceId: WorkspaceId,
  campaignId: string,
  filter: RecipientFilter,
  { limit, offset, after }: Page,
): Promise<ScannedRecipients> {
  const { status, email, domain, opened, clicked, link, machine, unsubscribed } = filter;
  const { held } = await readable(db, workspaceId, { status });
  const ofMessage = [
    status && sql`m.status = any (${[...storedAs(status)]}::text[]) ${shows({ status, held })}`,
    email &&
      sql`position(lower(${email.includes("@") ? domainInALabels(email) : email})
        in lower(m.localpart || '@' || m.domain)) > 0`,
    domain && sql`lower(m.domain) = lower(${domainInALabels(domain)})`,
  ].filter((condition) => condition !== undefined && condition !== "");
  const conditions = [
    opened !== undefined && sql`(r.first_opened_at is not null) = ${opened}`,
    clicked !== undefined && sql`(r.first_clicked_at is not null) = ${clicked}`,
    link !== undefined &&
      sql`exists (
        select from campaign_link_clicks c
        where c.workspace_id = ${workspaceId} and c.campaign_id = ${campaignId} and c.index = ${link}
          and c.message_id = r.message_id)`,
    machine !== undefined &&
      sql`exists (
        select from message_events e
        where e.workspace_id = ${workspaceId} and e.message_id = r.message_id
          and e.type in ('machine_opened', 'machine_clicked')) = ${machine}`,
    unsubscribed === false && sql`r.unsubscribed_at is null`,
    ofMessage.length > 0 &&
      sql`exists (
        select from messages m
        where m.workspace_id = ${workspaceId} and m.id = r.message_id and ${join(ofMessage, " and ")})`,
  ].filter((condition) => condition !== false);
  const found = await db.row<ScannedRecipients>(sql`
    with looked as materialized (
      -- Row comparisons are served by the primary key, or the index of those who unsubscribed, alone. With separate
      -- conditions the planner may read the index of all campaigns' recipients, and pass over those of the others one by
      -- one.
      select subscriber_id, message_id, first_opened_at, first_clicked_at, unsubscribed_at from campaign_recipients
      where (workspace_id, campaign_id, subscriber_id) >= (${workspaceId}, ${campaignId}, ${nilId})
        and (workspace_id, campaign_id, subscriber_id) < (${workspaceId}, ${campaignId}, ${after ?? lastId})
        ${unsubscribed === true ? sql`and unsubscribed_at is not null` : empty}
      order by workspace_id desc, campaign_id desc, subscriber_id desc limit ${MOST_RECIPIENTS_READ}
    ), stopped as materialized (
      select subscriber_id, message_id from (
        select subscriber_id, message_id, count(*) over () as read from looked order by subscriber_id limit 1) last
      where read = ${MOST_RECIPIENTS_READ}
    ), meant as materialized (
      select message_id as id, subscriber_id as place from looked r
      ${conditions.length === 0 ? empty : sql`where ${join(conditions, " and ")}`}
    )
    select
      (select coalesce(jsonb_agg(page order by place desc), '[]')
        from (select id, place from meant order by place desc limit ${limit} offset ${offset}) page) as rows,
      (select count(*) from meant) as total, (select subscriber_id from stopped) as "searchedTo",
      (select m.created_at from stopped join messages m
        on m.workspace_id = ${workspaceId} and m.id = stopped.message_id) as since`);
  if (found === undefined) throw new Error("no row");
  return found;
}

/** What recipients did with their messages. */
export interface RecipientEngagement {
  readonly id: string;
  readonly subscriber_id: string;
  readonly first_opened_at: Date | null;
  readonly first_clicked_at: Date | null;
  readonly unsubscribed_at: Date | null;
}

export function listEngagement(
  db: Queryable,
  workspaceId: WorkspaceId,
  messageIds: readonly string[],
): Promise<RecipientEngagement[]> {
  return db.rows(sql`
    select message_id as id, subscriber_id, first_opened_at, first_clicked_at, unsubscribed_at
    from campaign_recipients
    where workspace_id = ${workspaceId} and message_id = any (${[...messageIds]}::uuid[])`);
}

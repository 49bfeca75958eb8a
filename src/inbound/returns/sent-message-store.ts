/** Looks sent messages up by their id alone, because return paths do not contain the workspace. */
import sql from "sql-template-tag";
import type { Queryable } from "#platform/database/pool.ts";
import type { WorkspaceId } from "#platform/ids.ts";

export interface SentMessage {
  readonly workspaceId: WorkspaceId;
  readonly id: string;
  readonly localpart: string;
  readonly domain: string;
  readonly subject: string;
  /** The address in its From field. */
  readonly fromEmail: string;
  /** The address for copies of its bounces. */
  readonly bounceEmail: string | null;
}

/** Joins the campaign of message `m`. Deleted campaigns are kept as long as their messages. */
const campaignOf = sql`left join campaigns campaign
  on m.source = 'campaign' and campaign.workspace_id = m.workspace_id and campaign.id = m.origin_id`;

/** The time of the last change of the message; undefined when it is no longer in the log. */
export async function findLastMove(db: Queryable, id: string): Promise<Date | undefined> {
  return (await locate(db, id))?.updated_at;
}

/** Whether the sender of the message, in its From field or its envelope, is at the domain. */
export async function isSentFrom(db: Queryable, id: string, domain: string): Promise<boolean> {
  const found = await locate(db, id);
  if (found === undefined) return false;
  const sent = await db.row(sql`
    select from messages m ${campaignOf}
    where m.workspace_id = ${found.workspace_id} and m.id = ${id}
      and ${domain} in (split_part(m.from_email, '@', -1), split_part(campaign.sender_email, '@', -1))`);
  return sent !== undefined;
}

export async function findSentMessage(tx: Queryable, id: string): Promise<SentMessage | undefined> {
  const found = await locate(tx, id);
  if (found === undefined) return undefined;
  return tx.row(sql`
    select m.workspace_id as "workspaceId", m.id, m.localpart, m.domain, m.subject, m.from_email as "fromEmail",
      coalesce(content.bounce_email, campaign.bounce_email) as "bounceEmail"
    from messages m
    left join message_contents content on content.workspace_id = m.workspace_id and content.message_id = m.id
    ${campaignOf}
    where m.workspace_id = ${found.workspace_id} and m.id = ${id}`);
}

/** Counts the recorded reports of a kind about a message; events of its own delivery have an attempt number. */
export async function countReports(
  tx: Queryable,
  workspaceId: WorkspaceId,
  id: string,
  kind: "bounced" | "delayed",
): Promise<number> {
  const row = await tx.row<{ reports: number }>(sql`
    select count(*)::int as reports from message_events
    where workspace_id = ${workspaceId} and message_id = ${id} and type = ${kind} and attempt is null`);
  return row?.reports ?? 0;
}

/** Locks the message, so that reports about it are applied one after the other. */
export async function lockSentMessage(tx: Queryable, workspaceId: WorkspaceId, id: string): Promise<void> {
  await tx.run(sql`
    select from messages where workspace_id = ${workspaceId} and id = ${id} for no key update`);
}

interface Located {
  readonly workspace_id: WorkspaceId;
  readonly updated_at: Date;
}

/** Looks into each workspace by the log's primary key. An index on ids alone would slow down every sent message. */
function locate(db: Queryable, id: string): Promise<Located | undefined> {
  return db.row(sql`
    select m.workspace_id, m.updated_at from workspaces w
    cross join lateral (
      select workspace_id, updated_at from messages where workspace_id = w.id and id = ${id} offset 0) m
    limit 1`);
}

/** The message that a mail is about, looked up by its id alone: return paths have no room for the workspace. */
import sql from "sql-template-tag";
import type { Queryable } from "#platform/database/pool.ts";
import type { WorkspaceId } from "#platform/ids.ts";

export interface SentMessage {
  readonly workspaceId: WorkspaceId;
  readonly id: string;
  readonly localpart: string;
  readonly domain: string;
  readonly subject: string;
  /** In its From field. */
  readonly fromEmail: string;
  /** Who wants a copy of its bounces. */
  readonly bounceEmail: string | null;
}

/** Of the message `m`; a deleted one is there for as long as the log has its messages. */
const campaignOf = sql`left join campaigns campaign
  on m.source = 'campaign' and campaign.workspace_id = m.workspace_id and campaign.id = m.origin_id`;

/** When something last happened to the message; undefined: the log has it no more. */
export async function findLastMove(db: Queryable, id: string): Promise<Date | undefined> {
  return (await locate(db, id))?.updated_at;
}

/** Whether the sender of the message, in its From field or in its envelope, is at the domain. */
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

/** How many reports of a kind about the message were recorded: those that its own delivery wrote have an attempt. */
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

/** Two reports about one message wait for each other: the second sees what the first has made of it. */
export async function lockSentMessage(tx: Queryable, workspaceId: WorkspaceId, id: string): Promise<void> {
  await tx.run(sql`
    select from messages where workspace_id = ${workspaceId} and id = ${id} for no key update`);
}

interface Located {
  readonly workspace_id: WorkspaceId;
  readonly updated_at: Date;
}

/** Asks each workspace by the log's primary key: an index of ids alone would cost every message that is sent. */
function locate(db: Queryable, id: string): Promise<Located | undefined> {
  return db.row(sql`
    select m.workspace_id, m.updated_at from workspaces w
    cross join lateral (
      select workspace_id, updated_at from messages where workspace_id = w.id and id = ${id} offset 0) m
    limit 1`);
}

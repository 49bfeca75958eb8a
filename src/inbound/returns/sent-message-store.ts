/** Looks sent messages up by what their return path says: the id, and the begin of the workspace's id. */
import sql from "sql-template-tag";
import type { NamedMessage } from "#mail/bounces/verp.ts";
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
export async function findLastMove(db: Queryable, named: NamedMessage): Promise<Date | undefined> {
  return (await locate(db, named))?.updated_at;
}

/** Whether the sender of the message, in its From field or its envelope, is at the domain. */
export async function isSentFrom(db: Queryable, named: NamedMessage, domain: string): Promise<boolean> {
  const found = await locate(db, named);
  if (found === undefined) return false;
  const sent = await db.row(sql`
    select from messages m ${campaignOf}
    where m.workspace_id = ${found.workspace_id} and m.id = ${named.messageId}
      and ${domain} in (split_part(m.from_email, '@', -1), split_part(campaign.sender_email, '@', -1))`);
  return sent !== undefined;
}

export async function findSentMessage(tx: Queryable, named: NamedMessage): Promise<SentMessage | undefined> {
  const found = await locate(tx, named);
  if (found === undefined) return undefined;
  return tx.row(sql`
    select m.workspace_id as "workspaceId", m.id, m.localpart, m.domain, m.subject, m.from_email as "fromEmail",
      coalesce(content.bounce_email, campaign.bounce_email) as "bounceEmail"
    from messages m
    left join message_contents content on content.workspace_id = m.workspace_id and content.message_id = m.id
    ${campaignOf}
    where m.workspace_id = ${found.workspace_id} and m.id = ${named.messageId}`);
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

/**
 * Looks into the workspaces with this prefix, nearly always one, by the log's primary key. An index on ids alone would slow
 * down every sent message.
 */
function locate(db: Queryable, { messageId, workspacePrefix }: NamedMessage): Promise<Located | undefined> {
  const [first, last] = ["0", "f"].map((digit) => workspacePrefix.padEnd(32, digit));
  return db.row(sql`
    select m.workspace_id, m.updated_at from workspaces w
    cross join lateral (
      select workspace_id, updated_at from messages where workspace_id = w.id and id = ${messageId} offset 0) m
    where w.id between ${first}::uuid and ${last}::uuid
    limit 1`);
}

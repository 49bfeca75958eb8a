/** A sent message with its recipient, for the web view; and the values of a recipient for a test send. */
import sql from "sql-template-tag";
import type { Queryable } from "#platform/database/pool.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import type { RecipientValues } from "#sending/content/render.ts";

export interface SentMail {
  readonly campaign_id: string;
  /** The recipient's address, as the message log has it. */
  readonly address: string;
  /** The values that the mail showed, as JSON (web-view-values.ts); null where the log keeps none. */
  readonly shown: string | null;
  /** The recipient's present values; null when the subscriber was deleted. */
  readonly email: string | null;
  readonly first_name: string | null;
  readonly last_name: string | null;
  readonly custom_fields: Readonly<Record<string, unknown>> | null;
}

/** Columns of SentMail, for a message `m` and a subscriber `s`. */
export const sentMailColumns = sql`
  m.localpart || '@' || m.domain as address, m.shown, s.email, s.first_name, s.last_name, s.custom_fields`;

export function findSentCampaignMail(
  db: Queryable,
  workspaceId: WorkspaceId,
  messageId: string,
): Promise<SentMail | undefined> {
  return db.row(sql`
    select m.origin_id as campaign_id, ${sentMailColumns}
    from messages m
    left join campaign_recipients r on r.workspace_id = m.workspace_id and r.message_id = m.id
    left join subscribers s on s.workspace_id = m.workspace_id and s.id = r.subscriber_id
    where m.workspace_id = ${workspaceId} and m.id = ${messageId} and m.source = 'campaign'`);
}

/** The values of a subscriber by id. */
export function findSubscriberValues(
  db: Queryable,
  workspaceId: WorkspaceId,
  id: string,
): Promise<Pick<RecipientValues, "email" | "first_name" | "last_name" | "custom_fields"> | undefined> {
  return db.row(sql`
    select email, first_name, last_name, custom_fields from subscribers
    where workspace_id = ${workspaceId} and id = ${id}`);
}

/** @param email normalised */
export function findRecipientValues(
  db: Queryable,
  workspaceId: WorkspaceId,
  email: string,
): Promise<Pick<RecipientValues, "first_name" | "last_name" | "custom_fields"> | undefined> {
  return db.row(sql`
    select first_name, last_name, custom_fields from subscribers
    where workspace_id = ${workspaceId} and email = ${email}`);
}

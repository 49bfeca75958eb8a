/** Inserts a sent campaign without sending it: people, messages, links, and the tracking URLs of the mails. */
import sql from "sql-template-tag";
import type { StoredAttachment } from "#messages/message/attachment.ts";
import { unclassified } from "#messages/message/outcome.ts";
import { recordOutcomes } from "#messages/record-outcomes.ts";
import type { Database } from "#platform/database/pool.ts";
import { newId, type WorkspaceId } from "#platform/ids.ts";
import { createSecrets } from "#platform/secrets/secrets.ts";
import { insertDrafts } from "#sending/acceptance/accept-messages-statement.ts";
import { mailLinkKeys, mailLinks } from "#tracking/link-tokens.ts";
import { addPeople, newList } from "./audience.ts";
import { draft } from "./drafts.ts";
import { SECRET_KEY } from "./service.ts";

export const linkKey = mailLinkKeys(createSecrets(SECRET_KEY)).signing;

export interface SentMail {
  readonly messageId: string;
  readonly email: string;
  readonly links: ReturnType<typeof mailLinks>;
}

export interface TrackedCampaign {
  readonly campaignId: string;
  readonly listId: string;
  readonly mails: readonly SentMail[];
}

/**
 * Inserts mails to `people` new members of a new list, delivered at `deliveredAt`.
 * @param urls targets of the links, by index
 * @param isToList false: the campaign has an audience without a list
 */
export async function sentCampaign(
  database: Database,
  workspaceId: WorkspaceId,
  options: {
    readonly base: string;
    readonly people?: number;
    readonly urls?: readonly string[];
    readonly html?: string;
    readonly text?: string;
    readonly attachments?: readonly StoredAttachment[];
    readonly deliveredAt: Date;
    readonly isDelivered?: boolean;
    readonly isToList?: boolean;
  },
): Promise<TrackedCampaign> {
  const { base, people = 1, urls = ["https://shop.example/"], deliveredAt: time } = options;
  const campaignId = newId();
  const listId = await newList(database, workspaceId);
  const emails = Array.from({ length: people }, () => `${newId()}@people.test`);
  await addPeople(
    database,
    workspaceId,
    listId,
    emails.map((email) => ({ email })),
  );
  const audience = options.isToList === false ? null : listId;
  await database.run(sql`
    insert into campaigns (workspace_id, id, name, subject, from_email, message_type, recipient_type, use_custom_headers,
      html_content, text_content, attachments, tracks_opens, tracks_clicks, status, audience_list_id, created_at, updated_at)
    values (${workspaceId}, ${campaignId}, 'Spring', 'Hello', 'news@sender.test', 'email', 'mailing_list', false,
      ${options.html ?? null}, ${options.text ?? null},
      ${options.attachments === undefined ? null : JSON.stringify(options.attachments)}, true, true, 'sent', ${audience}, ${time}, ${time})`);
  await database.run(sql`
    insert into campaign_counters (workspace_id, campaign_id) values (${workspaceId}, ${campaignId})`);
  await database.run(sql`
    insert into campaign_links (workspace_id, campaign_id, index, url, is_personal)
    select ${workspaceId}, ${campaignId}, index - 1, url, url like '%{{%'
    from unnest(${[...urls]}::text[]) with ordinality as u (url, index)`);
  const drafts = emails.map((email) =>
    draft(workspaceId, email, { source: "campaign", originId: campaignId, originName: "Spring" }),
  );
  await insertDrafts(database, drafts);
  const ids = drafts.map(({ message }) => message.id);
  await database.run(sql`
    insert into campaign_recipients (workspace_id, campaign_id, subscriber_id, message_id)
    select ${workspaceId}, ${campaignId}, s.id, r.message_id
    from unnest(${emails}::text[], ${ids}::uuid[]) as r (email, message_id)
    join subscribers s on s.workspace_id = ${workspaceId} and s.email = r.email`);
  if (options.isDelivered !== false) await deliver(database, workspaceId, ids, time);
  return {
    campaignId,
    listId,
    mails: ids.map((messageId, at) => ({
      messageId,
      email: emails[at] ?? "",
      links: mailLinks({ workspaceId, messageId }, base, linkKey),
    })),
  };
}

async function deliver(
  database: Database,
  workspaceId: WorkspaceId,
  messageIds: readonly string[],
  time: Date,
): Promise<void> {
  const outcomes = messageIds.map((messageId) => ({
    workspaceId,
    messageId,
    status: "delivered" as const,
    time,
    attempts: 1,
    nextAttemptAt: null,
    detail: "250 ok",
    mxHost: null,
    code: 250,
    enhancedCode: null,
    isAddressFault: false,
    ...unclassified,
  }));
  await database.transaction((tx) => recordOutcomes(tx, outcomes, async () => {}));
}

/** Writes the workspaces of an installation: each with its account, a list, a sent campaign and a webhook. */
import sql from "sql-template-tag";
import type { Queryable } from "#platform/database/pool.ts";
import { idOfSql } from "./seed-ids.ts";

/** @param count the workspaces, with the numbers from 0 */
export async function seedWorkspaces(db: Queryable, count: number): Promise<void> {
  const numbers = sql`generate_series(0::bigint, ${count - 1}::bigint) n`;
  const workspace = idOfSql("workspace", sql`n`);
  const list = idOfSql("list", sql`n`);
  const campaign = idOfSql("campaign", sql`n`);
  await db.run(sql`
    insert into workspaces (id, name, plan) select ${workspace}, 'Workspace ' || n, 'enterprise' from ${numbers}`);
  await db.run(sql`insert into billing_accounts (workspace_id) select ${workspace} from ${numbers}`);
  await db.run(sql`
    insert into mailing_lists (workspace_id, id, name, created_at, updated_at)
    select ${workspace}, ${list}, 'Customers', now(), now() from ${numbers}`);
  await db.run(sql`
    insert into campaigns (workspace_id, id, name, subject, from_email, message_type, recipient_type, mailing_list_id,
      audience_list_id, use_custom_headers, status, sent_at, completed_at, created_at, updated_at)
    select ${workspace}, ${campaign}, 'Campaign', 'Hello', 'shop@sender.test', 'email', 'mailing_list', ${list}, ${list}, false,
      'sent', now(), now(), now(), now() from ${numbers}`);
  await db.run(sql`
    insert into campaign_counters (workspace_id, campaign_id) select ${workspace}, ${campaign} from ${numbers}`);
  await db.run(sql`
    insert into webhooks (workspace_id, id, url, events, is_active, secret, created_at, updated_at)
    select ${workspace}, ${idOfSql("webhook", sql`n`)}, 'https://receiver.test/' || n, '{message.delivered}', true,
      sha256(n::text::bytea), now(), now() from ${numbers}`);
}

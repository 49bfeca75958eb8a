/** Creates campaigns without HTTP, and reads their recipients. */
import sql from "sql-template-tag";
import type { Database, Queryable } from "#platform/database/pool.ts";
import { newId, type WorkspaceId } from "#platform/ids.ts";
import type { CampaignSettings } from "#sending/campaigns/campaign.ts";
import { insertCampaign } from "#sending/campaigns/store.ts";

/** The sorted addresses of the recipients that have been written for a campaign so far. */
export async function addressesOf(db: Database, campaignId: string): Promise<string[]> {
  const rows = await db.rows<{ email: string }>(sql`
    select s.email from campaign_recipients r
    join subscribers s on s.workspace_id = r.workspace_id and s.id = r.subscriber_id
    where r.campaign_id = ${campaignId} order by s.email`);
  return rows.map(({ email }) => email);
}

/** Creates a campaign from a verified sender to a list and returns its id. `change` may replace every field. */
export async function newCampaign(
  db: Database,
  workspaceId: WorkspaceId,
  mailingListId: string | null,
  change: Partial<CampaignSettings> = {},
): Promise<string> {
  const id = newId();
  const settings: CampaignSettings = {
    name: "June",
    subject: "News",
    from_email: "news@shop.test",
    from_name: "Shop",
    reply_to: null,
    message_type: "email",
    phone_field_name: null,
    recipient_type: "mailing_list",
    mailing_list_id: mailingListId,
    segment_id: null,
    segment_conditions: null,
    html_content: "<p>Hello {{ first_name }}</p>",
    text_content: null,
    mjml: null,
    design: null,
    template_id: null,
    template_version: null,
    enable_open_tracking: null,
    enable_click_tracking: null,
    url_domain_id: null,
    use_custom_headers: false,
    custom_headers: null,
    virtual_mta_ip: null,
    routing_rule_id: null,
    bounce_email: null,
    sender_email: null,
    scheduled_at: null,
    attachments: [],
    warnings: [],
    total_recipients: 0,
    ...change,
  };
  await insertCampaign(db, workspaceId, { id, ...settings }, new Date());
  return id;
}

/** Makes shop.test a verified domain of the workspace. */
export async function verifyShop(db: Queryable, workspaceId: WorkspaceId): Promise<void> {
  await db.run(sql`
    insert into sending_domains (workspace_id, id, domain, verification_token, dmarc_token, is_verified, verified_at)
    values (${workspaceId}, gen_random_uuid(), 'shop.test', 'v', 'd', true, now())`);
}

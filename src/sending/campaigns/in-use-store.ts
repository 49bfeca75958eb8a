/**
 * What campaigns use of the rest of the house: while one does, it cannot be deleted, and what goes all the same leaves its
 * name with them.
 */
import sql, { type Sql } from "sql-template-tag";
import { namesList } from "#audience/segments/in-use-store.ts";
import type { Queryable } from "#platform/database/pool.ts";
import type { WorkspaceId } from "#platform/ids.ts";

/** Whether a campaign `c` goes to the list or to a segment of it, or names either in its conditions. */
const usesList = (listId: Sql): Sql => sql`
  (${listId} in (c.mailing_list_id, c.audience_list_id)
    or exists (select from segments g where g.workspace_id = c.workspace_id and g.id = any (c.audience_segments)
      and g.mailing_list_id = ${listId})
    or (c.recipient_type = 'custom' and ${namesList(sql`c.segment_conditions`, listId)}))`;

/**
 * Of a campaign that mail is still to leave from, at its time or when it is resumed: what it uses stays. The functions
 * below find one that uses something, and give the beginning of a sentence: The campaign "June".
 */
const isUnderWay = sql`status in ('scheduled', 'sending', 'paused')`;

export function campaignWithList(
  db: Queryable,
  workspaceId: WorkspaceId,
  mailingListId: string,
): Promise<string | undefined> {
  return findCampaignUsing(db, workspaceId, sql`${isUnderWay} and ${usesList(sql`${mailingListId}::uuid`)}`);
}

/** The lists by which campaignWithList knows a campaign. */
export async function listListsOfCampaign(
  db: Queryable,
  workspaceId: WorkspaceId,
  campaignId: string,
): Promise<string[]> {
  const rows = await db.rows<{ id: string }>(sql`
    select l.id from campaigns c
    join mailing_lists l on l.workspace_id = c.workspace_id and ${usesList(sql`l.id`)}
    where c.workspace_id = ${workspaceId} and c.id = ${campaignId}`);
  return rows.map(({ id }) => id);
}

/**
 * The name of a mailing list that is about to go, for campaigns that were never begun: those that were hold it already.
 * One that somebody changes at this moment goes without, for that somebody may be waiting for the list.
 */
export async function updateListName(
  tx: Queryable,
  workspaceId: WorkspaceId,
  mailingListId: string,
): Promise<void> {
  await tx.run(sql`
    update campaigns c set mailing_list_name = l.name
    from mailing_lists l
    where l.workspace_id = ${workspaceId} and l.id = ${mailingListId} and c.workspace_id = ${workspaceId}
      and c.id in (
        select id from campaigns
        where workspace_id = ${workspaceId} and mailing_list_id = ${mailingListId} and mailing_list_name is null
        for update skip locked)`);
}

/** The same of a segment, or of those that go with their list. */
export async function updateSegmentNames(
  tx: Queryable,
  workspaceId: WorkspaceId,
  gone: { readonly segmentId: string } | { readonly mailingListId: string },
): Promise<void> {
  const isGone =
    "segmentId" in gone ? sql`g.id = ${gone.segmentId}` : sql`g.mailing_list_id = ${gone.mailingListId}`;
  await tx.run(sql`
    with named as (
      select c.id, g.name from segments g
      join campaigns c on c.workspace_id = g.workspace_id and c.segment_id = g.id and c.segment_name is null
      where g.workspace_id = ${workspaceId} and ${isGone}
      for update of c skip locked)
    update campaigns c set segment_name = named.name from named where c.workspace_id = ${workspaceId} and c.id = named.id`);
}

/** One that goes to the segment or names it in its conditions; a draft, too. */
export function campaignWithSegment(
  db: Queryable,
  workspaceId: WorkspaceId,
  segmentId: string,
): Promise<string | undefined> {
  const isNotOver = sql`(status = 'draft' or ${isUnderWay})`;
  return findCampaignUsing(db, workspaceId, sql`${segmentId} = any (audience_segments) and ${isNotOver}`);
}

/** The campaign that sends as the address, or as any address of the domain, in From or on the envelope. */
export function campaignWithSender(
  db: Queryable,
  workspaceId: WorkspaceId,
  sender: { readonly email: string } | { readonly domain: string },
): Promise<string | undefined> {
  const isIts =
    "email" in sender
      ? sql`lower(from_email) = ${sender.email}`
      : sql`${sender.domain} in (split_part(from_email, '@', -1), split_part(sender_email, '@', -1))`;
  return findCampaignUsing(db, workspaceId, sql`${isUnderWay} and ${isIts}`);
}

/** One whose links begin with the tracking domain. */
export function campaignWithTrackingDomain(
  db: Queryable,
  workspaceId: WorkspaceId,
  trackingDomainId: string,
): Promise<string | undefined> {
  return findCampaignUsing(db, workspaceId, sql`url_domain_id = ${trackingDomainId} and ${isUnderWay}`);
}

/** One that has chosen this sending IP or routing rule. */
export function campaignWithRoute(
  db: Queryable,
  workspaceId: WorkspaceId,
  route: { readonly ip: string } | { readonly ruleId: string },
): Promise<string | undefined> {
  const chosen =
    "ip" in route
      ? sql`virtual_mta_ip = ${route.ip}`
      : sql`(routing_rule_id = ${route.ruleId} or virtual_mta_ip = ${`routing_rule:${route.ruleId}`})`;
  return findCampaignUsing(db, workspaceId, sql`${chosen} and ${isUnderWay}`);
}

/** The first campaign `c` by name that fulfils a condition. */
async function findCampaignUsing(
  db: Queryable,
  workspaceId: WorkspaceId,
  condition: Sql,
): Promise<string | undefined> {
  const row = await db.row<{ name: string }>(sql`
    select name from campaigns c where workspace_id = ${workspaceId} and (${condition}) order by name limit 1`);
  return row && `The campaign "${row.name}"`;
}

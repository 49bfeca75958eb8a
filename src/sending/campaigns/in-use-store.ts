/**
 * Which campaign uses a list, segment, picture, sender, tracking domain or route, so that it cannot be deleted
 * meanwhile. When a list or segment is deleted, campaigns keep its name.
 */
import sql, { type Sql } from "sql-template-tag";
import type { SegmentUse } from "#audience/segments/save-segment.ts";
import { namesList } from "#audience/segments/segments-using-field-store.ts";
import { listFirstUsers } from "#audience/uses/first-users-store.ts";
import type { UserRow } from "#audience/uses/used-by.ts";
import type { Queryable } from "#platform/database/pool.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import { mediaUseOf } from "#sending/media/media-use.ts";
import { campaigns } from "./campaign.ts";

/** Whether a campaign `c` goes to the list or to one of its segments, or refers to either in its conditions. */
const usesList = (listId: Sql): Sql => sql`
  (${listId} in (c.mailing_list_id, c.audience_list_id)
    or exists (select from segments g where g.workspace_id = c.workspace_id and g.id = any (c.audience_segments)
      and g.mailing_list_id = ${listId})
    or (c.recipient_type = 'custom' and ${namesList(sql`c.segment_conditions`, listId)}))`;

/**
 * Whether a campaign will still send mail: what it uses must not be deleted. The functions below return the name of a
 * campaign that uses something as the start of a sentence: `The campaign "June"`.
 */
const isUnderWay = sql`status in ('scheduled', 'sending', 'paused')`;

export function campaignWithList(
  db: Queryable,
  workspaceId: WorkspaceId,
  mailingListId: string,
): Promise<string | undefined> {
  return findCampaignUsing(db, workspaceId, sql`${isUnderWay} and ${usesList(sql`${mailingListId}::uuid`)}`);
}

/** The ids of all lists for which campaignWithList finds this campaign. */
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
 * Copies the name of a mailing list that is being deleted to the campaigns that have not started; the others have it
 * already. A campaign that another transaction has locked is skipped, because that transaction may wait for the list.
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

/** Copies the name of a segment that is being deleted, or of all segments of a list, to their campaigns. */
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
    update campaigns c set segment_name = named.name
    from named where c.workspace_id = ${workspaceId} and c.id = named.id`);
}

/** Campaigns that go to one of the segments or refer to it in their conditions, including drafts. */
function listCampaignsWithSegments(
  db: Queryable,
  workspaceId: WorkspaceId,
  segmentIds: readonly string[],
): Promise<UserRow[]> {
  const ids = sql`${[...segmentIds]}::uuid[]`;
  return listFirstUsers(
    db,
    sql`
    select used.id as used_id, c.id, c.name, null::uuid as mailing_list_id, true as prevents_deletion
    from campaigns c join unnest(${ids}) used (id) on used.id = any (c.audience_segments)
    where c.workspace_id = ${workspaceId} and c.audience_segments && ${ids} and (status = 'draft' or ${isUnderWay})`,
  );
}

/** Campaigns whose HTML shows one of the pictures, including drafts and sent ones. */
export const mediaUsedByCampaigns = mediaUseOf(
  {
    kind: "campaign",
    noun: campaigns,
    what: "Campaigns",
    remedy: "change or delete them",
  },
  (workspaceId, ids) => sql`
  select used.id as used_id, c.id, c.name, null::uuid as mailing_list_id, true as prevents_deletion
  from campaigns c join unnest(${ids}) used (id) on used.id = any (c.media_ids)
  where c.workspace_id = ${workspaceId} and c.media_ids <> '{}' and c.media_ids && ${ids} and c.deleted_at is null`,
);

export const segmentUsedByCampaigns: SegmentUse = {
  kind: "campaign",
  noun: campaigns,
  called: ({ name }) => `The campaign "${name}"`,
  list: listCampaignsWithSegments,
};

/** A campaign whose From address or envelope sender is the address, or is on the domain. */
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

/** A campaign whose links use the tracking domain. */
export function campaignWithTrackingDomain(
  db: Queryable,
  workspaceId: WorkspaceId,
  trackingDomainId: string,
): Promise<string | undefined> {
  return findCampaignUsing(db, workspaceId, sql`url_domain_id = ${trackingDomainId} and ${isUnderWay}`);
}

/** A campaign that is routed through this sending IP or routing rule. */
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

/** The first campaign `c`, by name, for which the condition is true. */
async function findCampaignUsing(
  db: Queryable,
  workspaceId: WorkspaceId,
  condition: Sql,
): Promise<string | undefined> {
  const row = await db.row<{ name: string }>(sql`
    select name from campaigns c where workspace_id = ${workspaceId} and (${condition}) order by name limit 1`);
  return row && `The campaign "${row.name}"`;
}

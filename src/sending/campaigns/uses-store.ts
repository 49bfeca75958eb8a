/**
 * What campaigns use of the rest of the house: while one does, it cannot be deleted, and what goes all the same leaves its
 * name with them.
 */
import sql, { type Sql } from "sql-template-tag";
import { namesList } from "../../audience/segments/uses-store.ts";
import type { Queryable } from "../../platform/database/pool.ts";
import type { WorkspaceId } from "../../platform/ids.ts";

/** Of a campaign `c`: goes it to the list, or to a segment of it, or names it or one in its conditions? */
const usesList = (listId: Sql): Sql => sql`
  (${listId} in (c.mailing_list_id, c.audience_list_id)
    or exists (select from segments g where g.workspace_id = c.workspace_id and g.id = any (c.audience_segments)
      and g.mailing_list_id = ${listId})
    or (c.recipient_type = 'custom' and ${namesList(sql`c.segment_conditions`, listId)}))`;

/** Is there one that is scheduled or sending? */
export function isListInUse(
  db: Queryable,
  workspaceId: WorkspaceId,
  mailingListId: string,
): Promise<boolean> {
  return isAny(
    db,
    workspaceId,
    sql`status in ('scheduled', 'sending') and ${usesList(sql`${mailingListId}::uuid`)}`,
  );
}

/** The lists by which isListInUse knows a campaign. */
export async function listListsOf(
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

/** Does one that is not over go to the segment, or name it in its conditions? */
export function isSegmentInUse(db: Queryable, workspaceId: WorkspaceId, segmentId: string): Promise<boolean> {
  return isAny(
    db,
    workspaceId,
    sql`${segmentId} = any (audience_segments) and status in ('draft', 'scheduled', 'sending', 'paused')`,
  );
}

/** Does one that is scheduled or sending send as the address, or as any of the domain (in From, or on the envelope)? */
export function isSenderInUse(
  db: Queryable,
  workspaceId: WorkspaceId,
  sender: { readonly email: string } | { readonly domain: string },
): Promise<boolean> {
  const isIts =
    "email" in sender
      ? sql`lower(from_email) = ${sender.email}`
      : sql`${sender.domain} in (split_part(from_email, '@', -1), split_part(sender_email, '@', -1))`;
  return isAny(db, workspaceId, sql`status in ('scheduled', 'sending') and ${isIts}`);
}

/** Are links of a campaign that is not over made of it? */
export function isTrackingDomainInUse(
  db: Queryable,
  workspaceId: WorkspaceId,
  trackingDomainId: string,
): Promise<boolean> {
  return isAny(
    db,
    workspaceId,
    sql`url_domain_id = ${trackingDomainId} and status in ('scheduled', 'sending', 'paused')`,
  );
}

/** Whether one of them that is scheduled, or being sent, has chosen this sending IP or routing rule. */
export function isRouteInUse(
  db: Queryable,
  workspaceId: WorkspaceId,
  route: { readonly ip: string } | { readonly ruleId: string },
): Promise<boolean> {
  const chosen =
    "ip" in route
      ? sql`virtual_mta_ip = ${route.ip}`
      : sql`(routing_rule_id = ${route.ruleId} or virtual_mta_ip = ${`routing_rule:${route.ruleId}`})`;
  return isAny(db, workspaceId, sql`${chosen} and status in ('scheduled', 'sending', 'paused')`);
}

/** Is there a campaign `c` of the workspace that fulfils a condition? */
async function isAny(db: Queryable, workspaceId: WorkspaceId, condition: Sql): Promise<boolean> {
  const row = await db.row(sql`
    select from campaigns c where workspace_id = ${workspaceId} and (${condition}) limit 1`);
  return row !== undefined;
}

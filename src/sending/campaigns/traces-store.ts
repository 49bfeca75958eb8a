/** What is kept of campaigns that were deleted: themselves, links and recipients, for the mails in people's mailboxes, and counters. */
import sql from "sql-template-tag";
import type { Queryable } from "../../platform/database/pool.ts";
import type { WorkspaceId } from "../../platform/ids.ts";

/** A campaign that was deleted, and none of whose messages is in the log. */
export interface Forgotten {
  readonly workspace_id: WorkspaceId;
  readonly campaign_id: string;
}

/** Of the whole installation. The recipient with the highest id has the newest message. */
export function listForgotten(db: Queryable): Promise<Forgotten[]> {
  return db.rows(sql`
    select n.workspace_id, n.campaign_id from campaign_counters n
    left join lateral (
      select message_id from campaign_recipients r
      where r.workspace_id = n.workspace_id and r.campaign_id = n.campaign_id
      order by subscriber_id desc limit 1) newest on true
    where not exists (
        select from campaigns c
        where c.workspace_id = n.workspace_id and c.id = n.campaign_id and c.deleted_at is null)
      and not exists (select from messages m where m.workspace_id = n.workspace_id and m.id = newest.message_id)`);
}

/** At most `most` recipients; says how many went. */
export function removeRecipients(
  db: Queryable,
  { workspace_id, campaign_id }: Forgotten,
  most: number,
): Promise<number> {
  return db.run(sql`
    delete from campaign_recipients where ctid = any (array(
      select ctid from campaign_recipients where workspace_id = ${workspace_id} and campaign_id = ${campaign_id}
      limit ${most}))`);
}

/** At most `most` clicks; says how many went. */
export function removeLinkClicks(
  db: Queryable,
  { workspace_id, campaign_id }: Forgotten,
  most: number,
): Promise<number> {
  return db.run(sql`
    delete from campaign_link_clicks where ctid = any (array(
      select ctid from campaign_link_clicks where workspace_id = ${workspace_id} and campaign_id = ${campaign_id}
      limit ${most}))`);
}

/** The rest, which is little; the counters of the whole campaign, by which it is found, last of all. */
export async function removeRest(tx: Queryable, { workspace_id, campaign_id }: Forgotten): Promise<void> {
  const its = sql`workspace_id = ${workspace_id} and campaign_id = ${campaign_id}`;
  await tx.run(sql`
    delete from campaigns
    where workspace_id = ${workspace_id} and id = ${campaign_id} and deleted_at is not null`);
  await tx.run(sql`delete from campaign_links where ${its}`);
  await tx.run(sql`delete from campaign_domains where ${its}`);
  await tx.run(sql`delete from campaign_hours where ${its}`);
  await tx.run(sql`delete from campaign_counters where ${its}`);
}

/** What is kept of campaigns that were deleted: themselves, links and recipients, for the mails in people's mailboxes, and counters. */
import sql, { type Sql } from "sql-template-tag";
import type { Queryable } from "#platform/database/pool.ts";
import type { WorkspaceId } from "#platform/ids.ts";

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

/** Removes at most `most` rows of a table; says how many went. */
const removalFrom =
  (table: Sql) =>
  (db: Queryable, { workspace_id, campaign_id }: Forgotten, most: number): Promise<number> =>
    db.run(sql`
      delete from ${table} where ctid = any (array(
        select ctid from ${table} where workspace_id = ${workspace_id} and campaign_id = ${campaign_id} limit ${most}))`);

export const removeRecipients = removalFrom(sql`campaign_recipients`);
export const removeLinkClicks = removalFrom(sql`campaign_link_clicks`);

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

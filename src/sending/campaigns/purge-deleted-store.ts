/**
 * Purges deleted campaigns. The mails of a deleted campaign are still in mailboxes: their links and unsubscribe pages must
 * work for as long as the message log has the messages. After that its rows are removed, in bounded steps.
 */
import sql, { type Sql } from "sql-template-tag";
import type { Database, Queryable } from "#platform/database/pool.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import { removeInBatches } from "#platform/jobs/remove-in-batches.ts";

/** Returns when nothing is left to remove or `signal` is aborted; the next run continues. */
export async function purgeDeletedCampaigns(
  db: Database,
  signal: AbortSignal,
  { step }: { readonly step?: number } = {},
): Promise<void> {
  for (const campaign of await listPurgeable(db)) {
    for (const table of [sql`campaign_recipients`, sql`campaign_link_clicks`]) {
      await removeInBatches(signal, (most) => removeRows(db, table, campaign, most), step);
    }
    if (signal.aborted) return;
    await db.transaction((tx) => deletePurgedCampaign(tx, campaign));
  }
}

/** A deleted campaign with no message left in the log. */
interface PurgeableCampaign {
  readonly workspace_id: WorkspaceId;
  readonly campaign_id: string;
}

/** Over all workspaces. The recipient with the highest subscriber id has the newest message. */
function listPurgeable(db: Queryable): Promise<PurgeableCampaign[]> {
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

/** Deletes up to `most` rows of a table; returns how many. */
function removeRows(
  db: Queryable,
  table: Sql,
  { workspace_id, campaign_id }: PurgeableCampaign,
  most: number,
): Promise<number> {
  return db.run(sql`
    delete from ${table} where ctid = any (array(
      select ctid from ${table} where workspace_id = ${workspace_id} and campaign_id = ${campaign_id} limit ${most}))`);
}

/** Deletes the few remaining rows. campaign_counters goes last: listPurgeable finds the campaign by it. */
export async function deletePurgedCampaign(
  tx: Queryable,
  { workspace_id, campaign_id }: PurgeableCampaign,
): Promise<void> {
  const its = sql`workspace_id = ${workspace_id} and campaign_id = ${campaign_id}`;
  await tx.run(sql`
    delete from campaigns
    where workspace_id = ${workspace_id} and id = ${campaign_id} and deleted_at is not null`);
  await tx.run(sql`delete from campaign_links where ${its}`);
  await tx.run(sql`delete from campaign_domains where ${its}`);
  await tx.run(sql`delete from campaign_hours where ${its}`);
  await tx.run(sql`delete from campaign_counters where ${its}`);
}

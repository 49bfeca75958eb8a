/**
 * Purges deleted campaigns. The mails of a deleted campaign are still in mailboxes: their links and unsubscribe pages must
 * work for as long as the message log has the messages. After that its rows are removed, in bounded steps.
 */
import sql from "sql-template-tag";
import type { Clock } from "#platform/clock.ts";
import type { Database, Queryable } from "#platform/database/pool.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import { removeInBatches } from "#platform/jobs/remove-in-batches.ts";
import { refreshScoresOf } from "./counters/refresh-engagement-scores.ts";

/** Returns when nothing is left to remove or `signal` is aborted; the next run continues. */
export async function purgeDeletedCampaigns(
  { db, clock }: { readonly db: Database; readonly clock: Clock },
  signal: AbortSignal,
  { step }: { readonly step?: number } = {},
): Promise<void> {
  for (const campaign of await listPurgeable(db)) {
    const forget = (most: number) =>
      db.transaction(async (tx) => {
        const people = await removeRecipients(tx, campaign, most);
        await refreshScoresOf(tx, campaign.workspace_id, people, clock.now());
        return people.length;
      });
    await removeInBatches(signal, forget, step);
    await removeInBatches(signal, (most) => removeLinkClicks(db, campaign, most), step);
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

/** Deletes up to `most` recipients; returns who they are. */
async function removeRecipients(
  tx: Queryable,
  { workspace_id, campaign_id }: PurgeableCampaign,
  most: number,
): Promise<string[]> {
  const rows = await tx.rows<{ id: string }>(sql`
    delete from campaign_recipients where ctid = any (array(
      select ctid from campaign_recipients
      where workspace_id = ${workspace_id} and campaign_id = ${campaign_id} limit ${most}))
    returning subscriber_id as id`);
  return rows.map(({ id }) => id);
}

/** Deletes up to `most` first clicks; returns how many. */
function removeLinkClicks(
  db: Queryable,
  { workspace_id, campaign_id }: PurgeableCampaign,
  most: number,
): Promise<number> {
  return db.run(sql`
    delete from campaign_link_clicks where ctid = any (array(
      select ctid from campaign_link_clicks
      where workspace_id = ${workspace_id} and campaign_id = ${campaign_id} limit ${most}))`);
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

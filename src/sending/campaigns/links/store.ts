/** The SQL of tracked links whose target is changed. Their clicks are counted in campaigns/counters. */
import sql, { type Sql } from "sql-template-tag";
import type { Queryable } from "#platform/database/pool.ts";
import type { WorkspaceId } from "#platform/ids.ts";

export interface LinkRow {
  readonly index: number;
  readonly url: string;
  readonly is_personal: boolean;
  readonly target_url: string | null;
  readonly target_changed_at: Date | null;
  readonly click_count: number;
  readonly unique_click_count: number;
}

/** Columns of LinkRow. */
export const linkColumns: Sql = sql`
  index, url, is_personal, target_url, target_changed_at, click_count, unique_click_count`;

/** Locks the link until the transaction ends: a click that is being counted is counted first. */
export function lockLink(
  tx: Queryable,
  workspaceId: WorkspaceId,
  campaignId: string,
  index: number,
): Promise<LinkRow | undefined> {
  return tx.row(sql`
    select ${linkColumns} from campaign_links
    where workspace_id = ${workspaceId} and campaign_id = ${campaignId} and index = ${index} for no key update`);
}

/** @param targetUrl null: the link leads to its own URL again */
export async function setLinkTarget(
  tx: Queryable,
  workspaceId: WorkspaceId,
  link: { readonly campaignId: string; readonly index: number },
  targetUrl: string | null,
  changedAt: Date | null,
): Promise<void> {
  await tx.run(sql`
    update campaign_links set target_url = ${targetUrl}, target_changed_at = ${changedAt}
    where workspace_id = ${workspaceId} and campaign_id = ${link.campaignId} and index = ${link.index}`);
}

/** The links of a campaign whose target was changed, by index. */
export async function changedTargets(
  db: Queryable,
  workspaceId: WorkspaceId,
  campaignId: string,
): Promise<ReadonlyMap<number, string>> {
  const rows = await db.rows<{ index: number; target_url: string }>(sql`
    select index, target_url from campaign_links
    where workspace_id = ${workspaceId} and campaign_id = ${campaignId} and target_url is not null`);
  return new Map(rows.map(({ index, target_url }) => [index, target_url]));
}

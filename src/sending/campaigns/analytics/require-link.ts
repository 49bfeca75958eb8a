/** Checks the filter for recipients who clicked a link. */
import type { Queryable } from "#platform/database/pool.ts";
import { invalid } from "#platform/errors.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import { hasLink } from "./store.ts";

/**
 * @param index of a link; nothing for no filter
 * @throws ApiError VALIDATION_ERROR for an index that no link of the campaign has
 */
export async function requireLink(
  db: Queryable,
  workspaceId: WorkspaceId,
  campaignId: string,
  index: number | null | undefined,
): Promise<void> {
  if (index == null || (await hasLink(db, workspaceId, campaignId, index))) return;
  const message = `link is no index of a link of this campaign: GET /campaigns/${campaignId}/links lists them`;
  throw invalid({ field: "link", message });
}

/** The logo of a brand is a picture, which the brand keeps from being deleted. */
import type { Queryable } from "#platform/database/pool.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import { brandResource } from "#workspace/brand/permission.ts";
import { findBrand } from "#workspace/brand/store.ts";
import { mediaUrl } from "./media-link.ts";
import type { MediaUse } from "./media-use.ts";
import { findMedia, lockMedia } from "./store.ts";

/**
 * The path of a picture's address. The picture is locked, so that it is not deleted before the transaction ends.
 * @returns undefined if the workspace has no such picture
 */
export async function lockLogoPath(
  tx: Queryable,
  workspaceId: WorkspaceId,
  id: string,
): Promise<string | undefined> {
  await lockMedia(tx, workspaceId, [id]);
  const picture = await findMedia(tx, workspaceId, id);
  return picture && mediaUrl("", workspaceId, picture);
}

export const mediaUsedByBrand: MediaUse = {
  kind: "brand",
  noun: brandResource,
  what: "The brand",
  remedy: "change its logo",
  async list(db, workspaceId, ids) {
    const logo = (await findBrand(db, workspaceId))?.logo_media_id ?? null;
    if (logo === null || !ids.includes(logo)) return [];
    return [
      {
        used_id: logo,
        id: workspaceId,
        name: "Logo",
        mailing_list_id: null,
        prevents_deletion: true,
        total: 1,
        preventing: 1,
      },
    ];
  },
};

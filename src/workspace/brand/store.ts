/** The table of brands. */
import sql from "sql-template-tag";
import type { Queryable } from "#platform/database/pool.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import { type BrandSettings, noBrand } from "./brand.ts";

export interface StoredBrand extends BrandSettings {
  readonly updated_at: Date;
}

const columns = sql`display_name, website, logo_media_id, logo_path, accent_color, background_color, text_color, footer_text, postal_address`;

/** The brand of a workspace; undefined before it was first changed. */
export function findBrand(db: Queryable, workspaceId: WorkspaceId): Promise<StoredBrand | undefined> {
  return db.row(sql`select ${columns}, updated_at from brands where workspace_id = ${workspaceId}`);
}

/** The brand, locked until the transaction ends; before the first change, one without anything. */
export async function lockBrand(tx: Queryable, workspaceId: WorkspaceId, now: Date): Promise<BrandSettings> {
  await tx.run(sql`
    insert into brands (workspace_id, updated_at) values (${workspaceId}, ${now}) on conflict do nothing`);
  const brand = await tx.row<BrandSettings>(sql`
    select ${columns} from brands where workspace_id = ${workspaceId} for no key update`);
  return brand ?? noBrand;
}

/** Requires lockBrand. */
export async function updateBrand(
  tx: Queryable,
  workspaceId: WorkspaceId,
  brand: BrandSettings,
  now: Date,
): Promise<void> {
  await tx.run(sql`
    update brands
    set display_name = ${brand.display_name}, website = ${brand.website}, logo_media_id = ${brand.logo_media_id},
      logo_path = ${brand.logo_path}, accent_color = ${brand.accent_color},
      background_color = ${brand.background_color}, text_color = ${brand.text_color},
      footer_text = ${brand.footer_text}, postal_address = ${brand.postal_address}, updated_at = ${now}
    where workspace_id = ${workspaceId}`);
}

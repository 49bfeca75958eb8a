/** The brand of a workspace as its designs show it. */
import type { Queryable } from "#platform/database/pool.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import { noBrand } from "#workspace/brand/brand.ts";
import { findBrand } from "#workspace/brand/store.ts";
import type { DesignBrand } from "./design.ts";

/** @param base where the addresses of its pictures begin, without a trailing slash */
export async function findDesignBrand(
  db: Queryable,
  workspaceId: WorkspaceId,
  base: string,
): Promise<DesignBrand> {
  const brand = (await findBrand(db, workspaceId)) ?? noBrand;
  const { text_color, background_color, accent_color, footer_text, postal_address, logo_path } = brand;
  return {
    text_color,
    background_color,
    accent_color,
    footer_text,
    postal_address,
    logo_url: logo_path && `${base}${logo_path}`,
  };
}

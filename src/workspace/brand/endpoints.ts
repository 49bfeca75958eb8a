/** The brand of a workspace over HTTP. */

import type { Clock } from "#platform/clock.ts";
import type { Database, Queryable } from "#platform/database/pool.ts";
import { invalid } from "#platform/errors.ts";
import { type Endpoint, endpoint, need } from "#platform/http/endpoint.ts";
import { isEmptyChange } from "#platform/http/request/known-fields.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import { Brand, BrandChanges, changedBrand, noBrand, shownBrand } from "./brand.ts";
import { brandResource } from "./permission.ts";
import { findBrand, lockBrand, updateBrand } from "./store.ts";

/** Pictures belong to a later wing. */
export interface LogoHooks {
  /** The path of a picture's address, locked until the transaction ends; undefined for ids that are no picture's. */
  readonly lockLogoPath: (
    tx: Queryable,
    workspaceId: WorkspaceId,
    mediaId: string,
  ) => Promise<string | undefined>;
  /** Where addresses of pictures begin. */
  readonly mediaBase: (workspaceId: WorkspaceId) => Promise<string>;
}

interface Dependencies extends LogoHooks {
  readonly db: Database;
  readonly clock: Clock;
}

export function brandEndpoints({ db, clock, lockLogoPath, mediaBase }: Dependencies): Endpoint[] {
  const current = async (workspaceId: WorkspaceId) => {
    const brand = await findBrand(db, workspaceId);
    return shownBrand(brand ?? noBrand, brand?.updated_at ?? null, await mediaBase(workspaceId));
  };

  return [
    endpoint({
      id: "getBrand",
      method: "GET",
      path: "/brand",
      summary: "The brand of the workspace",
      description:
        "Name, logo, colours and footer of the pages that recipients see, and the footer text and postal address of mail. A field that was never set is null.",
      needs: need(brandResource, "read"),
      answer: Brand,
      message: "Brand",
      handle: ({ caller }) => current(caller.workspaceId),
    }),
    endpoint({
      id: "updateBrand",
      method: "PATCH",
      path: "/brand",
      summary: "Change the brand of the workspace; omitted fields stay",
      description:
        "Null removes a value. Colours whose text would be hard to read are refused. Pages change at once, mail of campaigns that are being sent within ten minutes.",
      needs: need(brandResource, "write"),
      body: BrandChanges,
      answer: Brand,
      message: "Brand updated",
      async handle({ caller: { workspaceId }, body }) {
        if (isEmptyChange(BrandChanges, body)) return current(workspaceId);
        const now = clock.now();
        const brand = await db.transaction(async (tx) => {
          const changed = changedBrand(await lockBrand(tx, workspaceId, now), body);
          const { logo_media_id: logo } = body;
          if (logo !== undefined) {
            changed.logo_media_id = logo;
            changed.logo_path = logo && ((await lockLogoPath(tx, workspaceId, logo)) ?? refuseLogo());
          }
          await updateBrand(tx, workspaceId, changed, now);
          return changed;
        });
        return shownBrand(brand, now, await mediaBase(workspaceId));
      },
    }),
  ];
}

function refuseLogo(): never {
  throw invalid({
    field: "logo_media_id",
    message: "logo_media_id is no picture of /media: upload it first",
  });
}

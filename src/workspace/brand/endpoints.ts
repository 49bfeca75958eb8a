/** The brand of a workspace over HTTP. */
import type { Clock } from "#platform/clock.ts";
import type { Database } from "#platform/database/pool.ts";
import { type Endpoint, endpoint, need } from "#platform/http/endpoint.ts";
import { Brand, BrandChanges, changedBrand, noBrand, shownBrand } from "./brand.ts";
import { brandResource } from "./permission.ts";
import { findBrand, lockBrand, updateBrand } from "./store.ts";

interface Dependencies {
  readonly db: Database;
  readonly clock: Clock;
}

export function brandEndpoints({ db, clock }: Dependencies): Endpoint[] {
  return [
    endpoint({
      id: "getBrand",
      method: "GET",
      path: "/brand",
      summary: "The brand of the workspace",
      description:
        "Name, colours and footer of the pages that recipients see, and the footer text and postal address of mail. A field that was never set is null.",
      needs: need(brandResource, "read"),
      answer: Brand,
      message: "Brand",
      async handle({ caller: { workspaceId } }) {
        const brand = await findBrand(db, workspaceId);
        return shownBrand(brand ?? noBrand, brand?.updated_at ?? null);
      },
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
      handle: ({ caller: { workspaceId }, body }) =>
        db.transaction(async (tx) => {
          const now = clock.now();
          const brand = changedBrand(await lockBrand(tx, workspaceId, now), body);
          await updateBrand(tx, workspaceId, brand, now);
          return shownBrand(brand, now);
        }),
    }),
  ];
}

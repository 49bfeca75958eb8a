/** Who was removed is known while an audience is being made ready, and no longer than that (removed-store.ts). */
import { forgetRemoved } from "#audience/subscribers/memberships/removed-people-store.ts";
import type { Database } from "#platform/database/pool.ts";
import { removeInBatches } from "#platform/jobs/remove-in-batches.ts";
import type { Recurring } from "#platform/jobs/schedule.ts";
import { expandingWorkspaces } from "./expansion-store.ts";

const SECONDS = 600;

export function forgetRemovedPeople(db: Database): Recurring {
  return {
    name: "forget-removed-people",
    seconds: SECONDS,
    run: async ({ signal }) => {
      await removeInBatches(signal, (most) => forgetRemoved(db, expandingWorkspaces, most));
    },
  };
}

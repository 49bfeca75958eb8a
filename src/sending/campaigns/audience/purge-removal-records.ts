/**
 * The recurring task that deletes records of removed subscribers (removed-people-store.ts) when no expansion of their
 * workspace needs them. With these records an expansion does not send twice to a person who was removed and added
 * again.
 */
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

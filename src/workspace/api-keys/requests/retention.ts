/** Deletes the requests of API keys after seven days. */
import type { Clock } from "#platform/clock.ts";
import type { Database } from "#platform/database/pool.ts";
import { removeInBatches } from "#platform/jobs/remove-in-batches.ts";
import type { Recurring } from "#platform/jobs/schedule.ts";
import { DAY_MS, HOUR_SECONDS } from "#platform/time-units.ts";
import { removeOldRequests } from "./store.ts";

export const REQUEST_DAYS = 7;

export function forgetOldRequests({
  db,
  clock,
}: {
  readonly db: Database;
  readonly clock: Clock;
}): Recurring {
  return {
    name: "forget-api-requests",
    seconds: HOUR_SECONDS,
    async run({ signal }) {
      const before = new Date(clock.now().getTime() - REQUEST_DAYS * DAY_MS);
      await removeInBatches(signal, (most) => removeOldRequests(db, before, most));
    },
  };
}

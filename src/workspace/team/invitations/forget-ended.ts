/** Deletes invitations that were not accepted, some time after they have ended: until then they can be sent again. */
import type { Clock } from "#platform/clock.ts";
import type { Database } from "#platform/database/pool.ts";
import { removeInBatches } from "#platform/jobs/remove-in-batches.ts";
import type { Recurring } from "#platform/jobs/schedule.ts";
import { DAY_MS, HOUR_SECONDS } from "#platform/time-units.ts";
import { removeEndedInvitations } from "./store.ts";

const KEPT_DAYS = 30;

export function forgetEndedInvitations({
  db,
  clock,
}: {
  readonly db: Database;
  readonly clock: Clock;
}): Recurring {
  return {
    name: "forget-invitations",
    seconds: HOUR_SECONDS,
    async run({ signal }) {
      const before = new Date(clock.now().getTime() - KEPT_DAYS * DAY_MS);
      await removeInBatches(signal, (most) => removeEndedInvitations(db, before, most));
    },
  };
}

import type { Clock } from "#platform/clock.ts";
import type { Database } from "#platform/database/pool.ts";
import type { Recurring } from "#platform/jobs/schedule.ts";
import { DAY_SECONDS } from "#platform/time-units.ts";
import { removeOldValidations } from "./store.ts";

const KEPT_DAYS = 365;
/** Rows per statement, which locks them until its end. */
const BATCH = 5_000;

/** The recurring job that removes the history after a year; the counts per day stay. */
export function removeOldValidationsJob({ db, clock }: { db: Database; clock: Clock }): Recurring {
  return {
    name: "forget-old-validations",
    seconds: DAY_SECONDS,
    async run({ signal }) {
      const before = new Date(clock.now().getTime() - KEPT_DAYS * DAY_SECONDS * 1_000);
      let removed = BATCH;
      while (removed === BATCH && !signal.aborted) removed = await removeOldValidations(db, before, BATCH);
    },
  };
}

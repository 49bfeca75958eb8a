/** Recurring tasks that delete rows some days after their time. */
import type { Clock } from "#platform/clock.ts";
import type { Queryable } from "#platform/database/pool.ts";
import { DAY_MS, HOUR_SECONDS } from "#platform/time-units.ts";
import { removeInBatches } from "./remove-in-batches.ts";
import type { Recurring } from "./schedule.ts";

interface Retention extends Pick<Recurring, "name"> {
  /** How long a row is kept after its time. */
  readonly days: number;
  /** Deletes at most `most` rows from before a time. @returns the number of deleted rows */
  readonly remove: (db: Queryable, before: Date, most: number) => Promise<number>;
}

/** A task that runs every hour. */
export function forgetOld(
  { db, clock }: { readonly db: Queryable; readonly clock: Clock },
  { name, days, remove }: Retention,
): Recurring {
  return {
    name,
    seconds: HOUR_SECONDS,
    async run({ signal }) {
      const before = new Date(clock.now().getTime() - days * DAY_MS);
      await removeInBatches(signal, (most) => remove(db, before, most));
    },
  };
}

/** Hourly clean-up of expired data: idempotency keys, ended jobs and their files, quotas. */
import type { Clock } from "#platform/clock.ts";
import type { Database } from "#platform/database/pool.ts";
import { removeOldKeys } from "#platform/http/idempotency/idempotency.ts";
import { removeEndedQuotas } from "#platform/limits/quota-store.ts";
import { HOUR_SECONDS } from "#platform/time-units.ts";
import { removePartsOver } from "./file-store.ts";
import { removeJobsOver } from "./job-record-store.ts";
import { removeInBatches } from "./remove-in-batches.ts";
import type { Recurring } from "./schedule.ts";

/** Parts of files that one statement deletes: some hundred MiB. */
const PARTS_BATCH = 200;

/** The recurring tasks. */
export function cleanUp(database: Database, clock: Clock): Recurring[] {
  return [
    {
      name: "remove-idempotency-keys",
      seconds: HOUR_SECONDS,
      async run({ signal, log }) {
        const keys = await removeInBatches(signal, (most) => removeOldKeys(database, most));
        log.debug({ keys }, "old idempotency keys removed");
      },
    },
    {
      name: "remove-expired-jobs",
      seconds: HOUR_SECONDS,
      async run({ signal, log }) {
        // The files first: deleting thousands of jobs in one statement would also delete gigabytes of files.
        const parts = await removeInBatches(signal, (most) => removePartsOver(database, most), PARTS_BATCH);
        const jobs = await removeInBatches(signal, (most) => removeJobsOver(database, most));
        log.debug({ jobs, parts }, "expired jobs removed");
      },
    },
    {
      name: "remove-ended-quotas",
      seconds: HOUR_SECONDS,
      async run({ signal }) {
        await removeInBatches(signal, (most) => removeEndedQuotas(database, clock.now(), most));
      },
    },
  ];
}

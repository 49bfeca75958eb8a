/** The hourly sweep of what the platform keeps for a while: idempotency keys, ended jobs and their files, quotas. */
import type { Clock } from "#platform/clock.ts";
import type { Database } from "#platform/database/pool.ts";
import { removeOldKeys } from "#platform/http/idempotency/idempotency.ts";
import { removeEndedQuotas } from "#platform/limits/quota-store.ts";
import { removeInBatches } from "./batches.ts";
import { removePartsOver } from "./file-store.ts";
import type { Recurring } from "./schedule.ts";
import { removeJobsOver } from "./store.ts";

const HOUR_SECONDS = 3_600;
/** Parts of files that go in one statement: some hundred MiB. */
const PARTS_BATCH = 200;

/** Runs as recurring tasks. */
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
        // First: with thousands of jobs at once there would be gigabytes of files to remove in one statement.
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

/** The hourly sweep of what the platform keeps for a while: idempotency keys, ended jobs and their files. */
import type { Database } from "../database/pool.ts";
import { removeOldKeys } from "../http/idempotency.ts";
import { removeJobFolder } from "./files.ts";
import type { Recurring } from "./schedule.ts";
import { removeExpiredJobs } from "./store.ts";

const HOUR_SECONDS = 3_600;

/** Runs as recurring tasks. */
export function cleanUp(database: Database, dataDir: string): Recurring[] {
  return [
    {
      name: "remove-idempotency-keys",
      seconds: HOUR_SECONDS,
      async run({ log }) {
        log.debug({ keys: await removeOldKeys(database) }, "old idempotency keys removed");
      },
    },
    {
      name: "remove-expired-jobs",
      seconds: HOUR_SECONDS,
      async run({ log }) {
        const jobs = await removeExpiredJobs(database);
        for (const { id } of jobs) await removeJobFolder(dataDir, id);
        log.debug({ jobs: jobs.length }, "expired jobs removed");
      },
    },
  ];
}

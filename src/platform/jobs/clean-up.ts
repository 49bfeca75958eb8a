/**
 * The hourly sweep of what the platform keeps for a while: idempotency keys, ended jobs and their files, and files that
 * a killed process left behind.
 */
import { rm } from "node:fs/promises";
import { join } from "node:path";
import type { Database } from "../database/pool.ts";
import { removeOldKeys } from "../http/idempotency.ts";
import { uploadsFolder } from "../http/uploads.ts";
import { removeInBatches } from "./batches.ts";
import { jobsFolder, listUntouched, removeJobFolder } from "./files.ts";
import type { Recurring } from "./schedule.ts";
import { listUnknownJobs, removeExpiredJobs } from "./store.ts";

const HOUR_SECONDS = 3_600;
/** Far longer than a request takes from the first byte of its file to the record of its job. */
const UNTOUCHED_MS = 24 * HOUR_SECONDS * 1_000;

/** Runs as recurring tasks. */
export function cleanUp(database: Database, dataDir: string): Recurring[] {
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
        const jobs = await removeInBatches(signal, async (most) => {
          const expired = await removeExpiredJobs(database, most);
          for (const { id } of expired) await removeJobFolder(dataDir, id);
          return expired.length;
        });
        log.debug({ jobs }, "expired jobs removed");
      },
    },
    {
      name: "remove-orphaned-files",
      seconds: HOUR_SECONDS,
      async run({ log }) {
        const folder = uploadsFolder(dataDir);
        const uploads = await listUntouched(folder, UNTOUCHED_MS);
        for (const name of uploads) await rm(join(folder, name), { recursive: true, force: true });
        const jobs = await listUnknownJobs(database, await listUntouched(jobsFolder(dataDir), UNTOUCHED_MS));
        for (const id of jobs) await removeJobFolder(dataDir, id);
        log.debug({ uploads: uploads.length, jobs: jobs.length }, "orphaned files removed");
      },
    },
  ];
}

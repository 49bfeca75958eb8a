/** The hourly sweep of what the platform keeps for a while: idempotency keys, ended jobs and their files. */
import type { Database } from "../database/pool.ts";
import { removeOldKeys } from "../http/idempotency.ts";
import { removeJobFolder } from "./files.ts";
import type { Recurring } from "./schedule.ts";
import { removeExpiredJobs } from "./store.ts";

const HOUR_SECONDS = 3_600;
/** A statement has 30 seconds, and what it deletes stays locked until its end. */
const BATCH = 5_000;

/** Runs as recurring tasks. */
export function cleanUp(database: Database, dataDir: string): Recurring[] {
  return [
    {
      name: "remove-idempotency-keys",
      seconds: HOUR_SECONDS,
      async run({ signal, log }) {
        const keys = await inBatches(signal, () => removeOldKeys(database, BATCH));
        log.debug({ keys }, "old idempotency keys removed");
      },
    },
    {
      name: "remove-expired-jobs",
      seconds: HOUR_SECONDS,
      async run({ signal, log }) {
        const jobs = await inBatches(signal, async () => {
          const expired = await removeExpiredJobs(database, BATCH);
          for (const { id } of expired) await removeJobFolder(dataDir, id);
          return expired.length;
        });
        log.debug({ jobs }, "expired jobs removed");
      },
    },
  ];
}

/** Removes until a batch was not full, or the process has to stop; says how many went. */
async function inBatches(signal: AbortSignal, remove: () => Promise<number>): Promise<number> {
  let total = 0;
  while (!signal.aborted) {
    const removed = await remove();
    total += removed;
    if (removed < BATCH) break;
  }
  return total;
}

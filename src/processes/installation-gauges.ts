/** The gauges of what every installation has: background jobs and recurring tasks, the database, the disk. */
import { AsyncCache } from "#platform/cache.ts";
import { findDatabaseBytes } from "#platform/database/database-size-store.ts";
import type { Queryable } from "#platform/database/pool.ts";
import { countJobBacklog, overdueRecurringSeconds, waitOfOldestJob } from "#platform/jobs/backlog-store.ts";
import type { GaugeSource } from "#platform/metrics.ts";
import { freeBytes } from "#platform/process/free-space.ts";
import { MINUTE_MS } from "#platform/time-units.ts";

export function installationGauges(db: Queryable, dataDir: string): GaugeSource[] {
  // PostgreSQL asks the file system about each file of the database, so the size is read once a minute.
  const sizes = new AsyncCache<number>({ ms: MINUTE_MS, most: 1 });
  return [
    {
      name: "posthaste_jobs",
      help: "Open background jobs by state: waiting or running.",
      label: "state",
      read: async () => ({ ...(await countJobBacklog(db)) }),
    },
    {
      name: "posthaste_jobs_oldest_waiting_seconds",
      help: "How long the first background job has been due without a runner; 0 when none waits.",
      read: () => waitOfOldestJob(db),
    },
    {
      name: "posthaste_recurring_oldest_due_seconds",
      help: "How long the first recurring task has been due without a runner; 0 when none waits.",
      read: () => overdueRecurringSeconds(db),
    },
    {
      name: "posthaste_database_size_bytes",
      help: "Size of the database, read once a minute.",
      read: () => sizes.get("", () => findDatabaseBytes(db)),
    },
    {
      name: "posthaste_data_dir_free_bytes",
      help: "Space in DATA_DIR that the service may use.",
      read: () => freeBytes(dataDir),
    },
  ];
}

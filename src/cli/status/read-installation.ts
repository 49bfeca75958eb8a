/** Reads the state of the installation for `posthaste status`. Each statement reads a bounded number of rows; nothing is changed. */
import { findHold } from "#delivery/hold/store.ts";
import { type HostWaitingLane, listWaitingLanes } from "#delivery/lanes/waiting-lanes-store.ts";
import { foremost } from "#delivery/message/lane-wait.ts";
import { oldestDueSeconds } from "#delivery/queue/oldest-due-store.ts";
import { countQueue } from "#delivery/queue/queue-store.ts";
import { systemClock } from "#platform/clock.ts";
import { findDatabaseBytes } from "#platform/database/database-size-store.ts";
import type { Database } from "#platform/database/pool.ts";
import { findReplication, type Replication } from "#platform/database/replication-store.ts";
import { countJobBacklog, overdueRecurringSeconds, waitOfOldestJob } from "#platform/jobs/backlog-store.ts";
import { freeBytes } from "#platform/process/free-space.ts";
import { listProcesses, type RunningProcess } from "#platform/process/running-processes-store.ts";
import { findHalted } from "#sending/halted/find-halted.ts";
import { countWaitingDeliveries, waitOfOldestDelivery } from "#webhooks/deliveries/backlog-store.ts";
import { INSTALLATION, timeOfLastEvent } from "#workspace/audit/store.ts";
import { countCappedCampaigns, type QueueSample, sampleQueue } from "./waiting-messages-store.ts";

const MOST_LANES = 10;

export interface InstallationStatus {
  /** Since when `sending hold` or a restore holds the sending; null if it is not held. */
  readonly sending_held_since: Date | null;
  /** Null without a backup within a year (the audit log is not kept longer). */
  readonly last_backup_at: Date | null;
  readonly queue: {
    readonly waiting: number;
    readonly leased: number;
    /** How late the first due message is, by priority. */
    readonly late_seconds: { readonly transactional: number; readonly bulk: number };
    readonly sample: QueueSample;
    readonly campaigns_at_hourly_cap: number;
  };
  /** The lanes that wait, in all delivery processes: pauses first, then the most messages. */
  readonly lanes: readonly HostWaitingLane[];
  readonly processes: readonly RunningProcess[];
  readonly jobs: {
    readonly waiting: number;
    readonly running: number;
    readonly oldest_seconds: number;
    readonly recurring_late_seconds: number;
  };
  readonly webhooks: { readonly waiting: number; readonly late_seconds: number };
  /** The server of DATABASE_URL and the standbys that follow it; null if it does not say. */
  readonly replication: Replication | null;
  readonly storage: {
    readonly database_bytes: number;
    readonly data_dir: string;
    /** Null if the folder does not exist on this machine. */
    readonly data_dir_free_bytes: number | null;
  };
}

/** The schema must be that of this program. */
export async function readInstallation(db: Database, dataDir: string): Promise<InstallationStatus> {
  const { paused } = await findHalted(db);
  // One after the other: the command has two connections, and the service is more important.
  const counts = await countQueue(db);
  const transactional = await oldestDueSeconds(db, 0, paused);
  const bulk = await oldestDueSeconds(db, 1, paused);
  const sample = await sampleQueue(db, paused);
  const jobs = await countJobBacklog(db);
  const hold = await findHold(db);
  return {
    sending_held_since: hold?.held_at ?? null,
    last_backup_at: await timeOfLastEvent(db, INSTALLATION, "backup"),
    queue: {
      ...counts,
      late_seconds: { transactional, bulk },
      sample,
      campaigns_at_hourly_cap: await countCappedCampaigns(db),
    },
    lanes: foremost(await listWaitingLanes(db), MOST_LANES),
    processes: await listProcesses(db),
    jobs: {
      ...jobs,
      oldest_seconds: await waitOfOldestJob(db),
      recurring_late_seconds: await overdueRecurringSeconds(db),
    },
    webhooks: {
      waiting: await countWaitingDeliveries(db),
      late_seconds: await waitOfOldestDelivery(db, systemClock.now()),
    },
    replication: (await findReplication(db)) ?? null,
    storage: {
      database_bytes: await findDatabaseBytes(db),
      data_dir: dataDir,
      data_dir_free_bytes: await freeBytes(dataDir).catch(() => null),
    },
  };
}

/**
 * Purges rows of autoresponders that are no longer needed, in bounded steps. Mail rows are kept as long as the message log
 * has their message, because links and unsubscribe pages need them. Finished runs without mail, and unused contents, are
 * removed; runs of a deleted autoresponder are removed at once.
 */
import type { Clock } from "#platform/clock.ts";
import type { Database } from "#platform/database/pool.ts";
import { removeInBatches } from "#platform/jobs/remove-in-batches.ts";
import type { Recurring } from "#platform/jobs/schedule.ts";
import { DAY_SECONDS } from "#platform/time-units.ts";
import { refreshScoresOf } from "#sending/campaigns/counters/refresh-engagement-scores.ts";
import {
  listPurgeableAutoresponders,
  removeCountersOfDeleted,
  removeFinishedRuns,
  removeForgottenMails,
  removeRunsOfDeleted,
  removeUnusedContents,
} from "./purge-store.ts";
import type { RunPage } from "./runs-store.ts";

export interface PurgeDeps {
  readonly db: Database;
  readonly clock: Clock;
  readonly step?: number;
}

export function autoresponderPurge(deps: PurgeDeps): Recurring {
  return {
    name: "remove-traces-of-autoresponders",
    seconds: DAY_SECONDS,
    run: ({ signal }) => purgeAutoresponders(deps, signal),
  };
}

/** Returns when nothing is left to remove or `signal` is aborted; the next run starts again. */
export async function purgeAutoresponders(
  { db, clock, step }: PurgeDeps,
  signal: AbortSignal,
): Promise<void> {
  const inBatches = (remove: (most: number) => Promise<number>) => removeInBatches(signal, remove, step);
  const pages = (look: (after: string | null, most: number) => Promise<RunPage>) => {
    let after: string | null = null;
    return inBatches(async (most) => {
      const { seen, last } = await look(after, most);
      after = last;
      return seen;
    });
  };
  for (const one of await listPurgeableAutoresponders(db)) {
    if (one.is_deleted) await inBatches((most) => removeRunsOfDeleted(db, one, most));
    await pages((after, most) =>
      db.transaction(async (tx) => {
        const page = await removeForgottenMails(tx, one, after, most);
        await refreshScoresOf(tx, one.workspace_id, page.people, clock.now());
        return page;
      }),
    );
    if (!one.is_deleted) await pages((after, most) => removeFinishedRuns(db, one, after, most, clock.now()));
    await inBatches((most) => removeUnusedContents(db, one, most));
    if (signal.aborted) return;
    if (one.is_deleted) await removeCountersOfDeleted(db, one);
  }
}

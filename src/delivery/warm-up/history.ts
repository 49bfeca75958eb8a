/** The history of a warm-up: what was allowed and sent on each day, by provider. It is kept for 400 days. */
import type { Clock } from "#platform/clock.ts";
import type { Page } from "#platform/database/page.ts";
import type { Database, Queryable } from "#platform/database/pool.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import { removeInBatches } from "#platform/jobs/remove-in-batches.ts";
import type { Recurring } from "#platform/jobs/schedule.ts";
import { DAY_MS, DAY_SECONDS } from "#platform/time-units.ts";
import { ceilingOf } from "./schedule.ts";
import { listWarmUpDays, removeOldWarmUpDays } from "./store.ts";

const KEPT_DAYS = 400;

export interface WarmUpHistoryDay {
  /** In UTC, `YYYY-MM-DD`. */
  readonly date: string;
  /** Name of the lane. */
  readonly provider: string;
  /** The day of the schedule, counted from 1. */
  readonly day: number;
  readonly ceiling: number;
  readonly sent: number;
  readonly deferred: number;
}

/** Newest first. */
export async function listWarmUpHistory(
  db: Queryable,
  workspaceId: WorkspaceId,
  sendingIpId: string,
  page: Page,
): Promise<{ readonly rows: readonly WarmUpHistoryDay[]; readonly total: number }> {
  const { rows, total } = await listWarmUpDays(db, workspaceId, sendingIpId, page);
  return {
    rows: rows.map(({ step, ...row }) => ({ ...row, day: step + 1, ceiling: ceilingOf(step) })),
    total,
  };
}

export function removeOldWarmUpHistory(db: Database, clock: Clock): Recurring {
  return {
    name: "remove-old-warm-up-days",
    seconds: DAY_SECONDS,
    async run({ signal }) {
      const before = new Date(clock.now().getTime() - KEPT_DAYS * DAY_MS);
      await removeInBatches(signal, (most) => removeOldWarmUpDays(db, before, most));
    },
  };
}

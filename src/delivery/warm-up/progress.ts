/** The progress of a workspace's warm-ups, as the API shows it. */
import type { Queryable } from "#platform/database/pool.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import { ceilingOf, dayOf, onDay } from "./schedule.ts";
import { listWarmUps } from "./store.ts";

export interface ProviderWarmUp {
  /** Name of the lane. */
  readonly provider: string;
  /** The day of the schedule, counted from 1. */
  readonly day: number;
  readonly ceiling: number;
  readonly sent_today: number;
  readonly deferred_today: number;
}

export interface WarmUpProgress {
  /** The highest day of all providers. */
  readonly day: number;
  readonly sent_today: number;
  readonly providers: readonly ProviderWarmUp[];
}

/** By the id of the sending IP, for those that are warmed up; each with all lanes. */
export async function listWarmUpProgress(
  db: Queryable,
  workspaceId: WorkspaceId,
  ips: readonly { readonly id: string; readonly warm_up_started_at: Date | null }[],
  lanes: readonly string[],
  now: Date,
): Promise<ReadonlyMap<string, WarmUpProgress>> {
  const warming = ips.flatMap(({ id, warm_up_started_at: startedAt }) =>
    startedAt ? { id, startedAt } : [],
  );
  if (warming.length === 0) return new Map();
  const rows = Map.groupBy(await listWarmUps(db, workspaceId), ({ sending_ip_id }) => sending_ip_id);
  return new Map(
    warming.map(({ id, startedAt }) => {
      const ofIp = rows.get(id) ?? [];
      const names = [...new Set([...lanes, ...ofIp.map(({ lane }) => lane)])];
      const providers = names.map((provider) => {
        const row = ofIp.find(({ lane }) => lane === provider);
        const { step, sent, deferred } = onDay(row, startedAt, dayOf(now));
        const today = { sent_today: sent, deferred_today: deferred };
        return { provider, day: step + 1, ceiling: ceilingOf(step), ...today };
      });
      const sent_today = providers.reduce((sum, one) => sum + one.sent_today, 0);
      return [id, { day: Math.max(...providers.map(({ day }) => day)), sent_today, providers }];
    }),
  );
}

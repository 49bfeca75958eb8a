/**
 * Logs that a workspace has reached the limit of its plan, balance or hourly cap: once an hour for each limit, however
 * many messages are refused.
 */

import { ExpiringMap } from "#platform/cache.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import type { Log } from "#platform/log/log.ts";
import { HOUR_MS } from "#platform/time-units.ts";
import type { Capacity } from "./derive-meter-reading.ts";

/** Called when a workspace has reached a limit. */
export type OnLimit = (workspaceId: WorkspaceId, refusal: Capacity["refusal"]) => void;

const QUIET_MS = HOUR_MS;
const MOST_REMEMBERED = 10_000;

const messages: Readonly<Record<Capacity["refusal"], string>> = {
  plan_limit_reached:
    "plan limit reached: the mail of a workspace waits or is refused until it has a bigger plan (workspace set --plan) or a balance (credit)",
  insufficient_balance:
    "balance used up: the mail of a workspace waits or is refused until it has a balance (credit) or a bigger plan (workspace set --plan)",
  hourly_cap: "hourly cap reached: the mail of a workspace waits or is refused until the next hour",
};

export class LimitNotices {
  readonly #log: Log;
  readonly #told: ExpiringMap<true>;

  /** @param monotonicMs a monotonic clock */
  constructor(log: Log, monotonicMs: () => number) {
    this.#log = log;
    this.#told = new ExpiringMap(MOST_REMEMBERED, monotonicMs);
  }

  readonly note: OnLimit = (workspaceId, refusal) => {
    const key = `${workspaceId} ${refusal}`;
    if (this.#told.get(key)) return;
    this.#told.set(key, true, QUIET_MS);
    this.#log.warn({ workspace_id: workspaceId, limit: refusal }, messages[refusal]);
  };
}

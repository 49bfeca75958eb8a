/**
 * The operator's log says that a workspace has reached what its plan, balance or hourly cap covers: once an hour for each,
 * however many messages are refused.
 */

import { ExpiringMap } from "#platform/cache.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import type { Log } from "#platform/log/log.ts";
import type { Capacity } from "./meter-reading.ts";

/** Told that a workspace has reached a limit. */
export type OnLimit = (workspaceId: WorkspaceId, refusal: Capacity["refusal"]) => void;

const QUIET_MS = 3_600_000;
const MOST_REMEMBERED = 10_000;

const messages: Readonly<Record<Capacity["refusal"], string>> = {
  plan_limit_reached:
    "a workspace has used up the volume of its plan, and its mail waits or is refused: a bigger plan (workspace set --plan) or a balance (credit) lets it go on",
  insufficient_balance:
    "a workspace has used up its allowance and its balance, and its mail waits or is refused: a balance (credit) or a bigger plan (workspace set --plan) lets it go on",
  hourly_cap:
    "a workspace has reached its hourly cap, and its mail waits or is refused until the hour is over",
};

export class LimitNotices {
  readonly #log: Log;
  readonly #told: ExpiringMap<true>;

  /** @param monotonicMs a clock that never steps back */
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

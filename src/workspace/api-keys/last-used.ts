/** last_used_at of API keys, to the minute. */
import type { Clock } from "#platform/clock.ts";
import type { Database } from "#platform/database/pool.ts";
import { LastUses } from "#platform/http/auth/last-uses.ts";
import type { Log } from "#platform/log/log.ts";
import { updateLastUsed } from "./store.ts";

export function createLastUsed(options: { db: Database; clock: Clock; log: Pick<Log, "warn"> }): LastUses {
  const { db, clock, log } = options;
  return new LastUses({
    column: "last_used_at of API keys",
    seconds: 60,
    write: (uses, minimumSeconds) => updateLastUsed(db, uses, minimumSeconds),
    clock,
    log,
  });
}

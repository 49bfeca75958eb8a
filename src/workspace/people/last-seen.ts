/** last_seen_at of members: when they last worked in a workspace, to the hour. */
import type { Clock } from "#platform/clock.ts";
import type { Database } from "#platform/database/pool.ts";
import type { Log } from "#platform/log/log.ts";
import { LastUses } from "#workspace/last-uses.ts";
import { updateLastSeen } from "./store.ts";

export function createLastSeen(options: { db: Database; clock: Clock; log: Pick<Log, "warn"> }): LastUses {
  const { db, clock, log } = options;
  return new LastUses({
    column: "last_seen_at of members",
    seconds: 3_600,
    write: (uses, minimumSeconds) => updateLastSeen(db, uses, minimumSeconds),
    clock,
    log,
  });
}

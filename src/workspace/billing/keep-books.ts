/** What billing does by itself: reads meters, renews subscriptions, forgets old hours. */
import type { Clock } from "../../platform/clock.ts";
import type { Database } from "../../platform/database/pool.ts";
import type { Recurring } from "../../platform/jobs/schedule.ts";
import { settle } from "./meter.ts";
import { listUnreadWorkspaces, removeOldHours } from "./meter-store.ts";
import type { Plans } from "./plans.ts";
import { renewSubscriptions } from "./subscribe.ts";

const MOST_AT_ONCE = 1_000;
const HOURS_KEPT = 48;

export function keepBooks({ db, clock, plans }: { db: Database; clock: Clock; plans: Plans }): Recurring[] {
  return [
    {
      name: "read-meters",
      seconds: 2,
      async run({ signal }) {
        for (const workspaceId of await listUnreadWorkspaces(db, MOST_AT_ONCE)) {
          if (signal.aborted) return;
          await db.transaction((tx) => settle(tx, plans, workspaceId, clock.now()));
        }
      },
    },
    {
      name: "renew-subscriptions",
      seconds: 60,
      run: ({ signal }) => renewSubscriptions(db, plans, clock.now(), signal),
    },
    {
      name: "forget-metered-hours",
      seconds: 3_600,
      run: () => removeOldHours(db, new Date(clock.now().getTime() - HOURS_KEPT * 3_600_000)),
    },
  ];
}

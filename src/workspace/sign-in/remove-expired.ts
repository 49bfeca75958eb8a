/** Hourly clean-up of what sign-ins leave: sessions, challenges, links, buckets, browsers, unfinished set-ups. */
import type { Clock } from "#platform/clock.ts";
import type { Database } from "#platform/database/pool.ts";
import { removeInBatches } from "#platform/jobs/remove-in-batches.ts";
import type { Recurring } from "#platform/jobs/schedule.ts";
import { DAY_MS, HOUR_SECONDS } from "#platform/time-units.ts";
import { removeExpiredLinks } from "#workspace/people/links-store.ts";
import { idleSince } from "#workspace/people/open-session.ts";
import { removeEndedSessions } from "#workspace/people/sessions-store.ts";
import { removeExpiredChallenges } from "#workspace/second-factors/challenges-store.ts";
import { APP_SET_UP_MS } from "#workspace/second-factors/second-factors.ts";
import { removeAppsBeingSetUp } from "#workspace/second-factors/store.ts";
import { removeFullBuckets } from "./attempts-store.ts";
import { BROWSER_DAYS, removeOldBrowsers } from "./known-browsers-store.ts";

export function signInTasks(db: Database, clock: Clock): Recurring[] {
  return [
    {
      name: "remove-expired-sign-ins",
      seconds: HOUR_SECONDS,
      async run({ signal }) {
        const now = clock.now();
        const before = (ms: number) => new Date(now.getTime() - ms);
        await removeInBatches(signal, (most) => removeEndedSessions(db, now, idleSince(now), most));
        await removeInBatches(signal, (most) => removeExpiredChallenges(db, now, most));
        await removeInBatches(signal, (most) => removeExpiredLinks(db, now, most));
        await removeInBatches(signal, (most) => removeFullBuckets(db, now, most));
        await removeInBatches(signal, (most) => removeOldBrowsers(db, before(BROWSER_DAYS * DAY_MS), most));
        await removeInBatches(signal, (most) => removeAppsBeingSetUp(db, before(APP_SET_UP_MS), most));
      },
    },
  ];
}

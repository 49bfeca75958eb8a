/** What came in is forgotten after a while. */
import type { Clock } from "../platform/clock.ts";
import type { Database } from "../platform/database/pool.ts";
import type { Recurring } from "../platform/jobs/schedule.ts";
import { removeOldReports } from "./reports/store.ts";
import { removeOldInboundMails } from "./returns/store.ts";
import { removeOldSoftBounces } from "./soft-bounces/store.ts";

const HOUR_SECONDS = 3_600;
const DAY_MS = 86_400_000;
const KEPT_DAYS = { processed: 7, softBounces: 90, reports: 400 };
/** Of quarantined mail, and of the operator's: the newest. */
const MOST_SHOWN = 1_000;

export function forgetInbound({ db, clock }: { readonly db: Database; readonly clock: Clock }): Recurring {
  return {
    name: "forget-inbound-mail",
    seconds: HOUR_SECONDS,
    async run() {
      const before = (days: number) => new Date(clock.now().getTime() - days * DAY_MS);
      await removeOldInboundMails(db, {
        processedBefore: before(KEPT_DAYS.processed),
        mostShown: MOST_SHOWN,
      });
      await removeOldSoftBounces(db, before(KEPT_DAYS.softBounces));
      await removeOldReports(db, before(KEPT_DAYS.reports));
    },
  };
}

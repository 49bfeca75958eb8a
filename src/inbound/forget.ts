/** What came in is forgotten after a while. */
import type { Clock } from "#platform/clock.ts";
import type { Database } from "#platform/database/pool.ts";
import { removeInBatches } from "#platform/jobs/remove-in-batches.ts";
import type { Recurring } from "#platform/jobs/schedule.ts";
import { removeOldRefusedReports } from "./reports/refused-store.ts";
import { removeOldDmarcRecords, removeOldDmarcReports, removeOldTlsReports } from "./reports/store.ts";
import { removeProcessedMails, removeUnshownMails } from "./returns/store.ts";
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
    async run({ signal }) {
      const before = (days: number) => new Date(clock.now().getTime() - days * DAY_MS);
      const { processed, softBounces, reports } = KEPT_DAYS;
      await removeInBatches(signal, (most) => removeProcessedMails(db, before(processed), most));
      for (const status of ["quarantined", "kept"] as const) {
        await removeInBatches(signal, (most) => removeUnshownMails(db, status, MOST_SHOWN, most));
      }
      await removeInBatches(signal, (most) => removeOldSoftBounces(db, before(softBounces), most));
      await removeInBatches(signal, (most) => removeOldDmarcRecords(db, before(reports), most));
      await removeInBatches(signal, (most) => removeOldDmarcReports(db, before(reports), most));
      await removeInBatches(signal, (most) => removeOldTlsReports(db, before(reports), most));
      await removeInBatches(signal, (most) => removeOldRefusedReports(db, before(reports), most));
    },
  };
}

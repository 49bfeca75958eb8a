/** Removes what is stored of inbound mail: after its retention time, or with its sending domain. */
import type { Clock } from "#platform/clock.ts";
import type { Database } from "#platform/database/pool.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import { removeInBatches } from "#platform/jobs/remove-in-batches.ts";
import type { Recurring } from "#platform/jobs/schedule.ts";
import { DAY_MS, HOUR_SECONDS } from "#platform/time-units.ts";
import { removeOldDigests } from "./received/accept-store.ts";
import { removeOldReceived } from "./received/remove-store.ts";
import { removeOldRefusedReports } from "./reports/refused-store.ts";
import {
  removeOldDmarcRecords,
  removeOldDmarcReports,
  removeOldTlsReports,
  removeSomeDmarcReports,
  removeSomeTlsReports,
} from "./reports/store.ts";
import { removeOlderMails, removeProcessedMails } from "./returns/store.ts";
import { removeOldSoftBounces } from "./soft-bounces/store.ts";
import { removeOldSources } from "./sources/store.ts";

const KEPT_DAYS = { processed: 7, softBounces: 90, reports: 400, digests: 1 };
/** Received mails of one statement: each may have 40 MB. */
const MOST_RECEIVED = 500;
/** The newest mails that are kept in quarantine, and for the operator. */
const MOST_LISTED = 1_000;
/** The limits of one statement: DMARC reports, up to the one that exceeds the records. */
const MOST_REMOVED = { reports: 5_000, records: 20_000 };

export function removeOldInboundMail({
  db,
  clock,
  receivedDays,
}: {
  readonly db: Database;
  readonly clock: Clock;
  /** Days for which mail to inbound routes is kept; null: forever. */
  readonly receivedDays: number | null;
}): Recurring {
  return {
    name: "forget-inbound-mail",
    seconds: HOUR_SECONDS,
    async run({ signal }) {
      const before = (days: number) => new Date(clock.now().getTime() - days * DAY_MS);
      const { processed, softBounces, reports, digests } = KEPT_DAYS;
      await removeInBatches(signal, (most) => removeProcessedMails(db, before(processed), most));
      for (const status of ["quarantined", "kept"] as const) {
        await removeInBatches(signal, (most) => removeOlderMails(db, status, MOST_LISTED, most));
      }
      await removeInBatches(signal, (most) => removeOldSoftBounces(db, before(softBounces), most));
      await removeInBatches(signal, (most) => removeOldDmarcRecords(db, before(reports), most));
      await removeInBatches(signal, (most) => removeOldDmarcReports(db, before(reports), most));
      await removeInBatches(signal, (most) => removeOldTlsReports(db, before(reports), most));
      await removeInBatches(signal, (most) => removeOldRefusedReports(db, before(reports), most));
      await removeInBatches(signal, (most) => removeOldDigests(db, before(digests), most));
      if (receivedDays !== null) {
        const remove = (most: number) => removeOldReceived(db, before(receivedDays), most);
        await removeInBatches(signal, remove, MOST_RECEIVED);
      }
      await removeInBatches(signal, (most) => removeOldSources(db, before(reports), most));
    },
  };
}

/**
 * Removes the reports of a sending domain that is being deleted, which may be years of them. Each statement commits on its
 * own; reports that arrive meanwhile may remain.
 */
export async function removeReports(
  db: Database,
  workspaceId: WorkspaceId,
  sendingDomainId: string,
): Promise<void> {
  const domain = { workspaceId, sendingDomainId };
  for (const removeSome of [removeSomeDmarcReports, removeSomeTlsReports]) {
    while ((await removeSome(db, domain, MOST_REMOVED)) > 0);
  }
}

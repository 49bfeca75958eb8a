/**
 * A deleted campaign's mails are still in mailboxes: their links lead somewhere and people leave by them, for as long
 * as the log knows the messages. Afterwards nothing of the campaign is needed any more, and it goes, in bounded steps.
 */
import type { Database } from "#platform/database/pool.ts";
import { removeInBatches } from "#platform/jobs/remove-in-batches.ts";
import { listForgotten, removeLinkClicks, removeRecipients, removeRest } from "./traces-store.ts";

/** Until nothing is left to remove or `signal` says stop; one that is cut short goes on the next time. */
export async function removeTraces(
  db: Database,
  signal: AbortSignal,
  { step }: { readonly step?: number } = {},
): Promise<void> {
  for (const campaign of await listForgotten(db)) {
    for (const remove of [removeRecipients, removeLinkClicks]) {
      await removeInBatches(signal, (most) => remove(db, campaign, most), step);
    }
    if (signal.aborted) return;
    await db.transaction((tx) => removeRest(tx, campaign));
  }
}

/**
 * What moves campaigns on by themselves, in the role jobs: those whose time has come begin, audiences become recipients,
 * and those that nobody waits for any more are sent. It is one recurring task for the whole installation, cut short by
 * a kill at any place and taken up by whoever is there; whoever sends or resumes a campaign makes it due at once.
 */
import type { Clock } from "../../platform/clock.ts";
import type { Database, Queryable } from "../../platform/database/pool.ts";
import { hasten, type Recurring } from "../../platform/jobs/schedule.ts";
import type { Log } from "../../platform/log.ts";
import { expandStep } from "./expand.ts";
import { listUnexpanded } from "./expansion-store.ts";
import { completeCampaigns, startDueCampaigns } from "./transitions-store.ts";

const NAME = "advance-campaigns";
const SECONDS = 2;
/** Later than this (an outage, a restored backup) a schedule is held instead of mailed. */
const MISSED_AFTER_MS = 6 * 60 * 60 * 1_000;

/** Makes the task due now; within a transaction, when that commits. */
export function wakeCampaigns(db: Queryable): Promise<void> {
  return hasten(db, NAME);
}

export function advanceCampaigns(deps: { readonly db: Database; readonly clock: Clock }): Recurring {
  return { name: NAME, seconds: SECONDS, run: ({ signal, log }) => advance(deps, signal, log) };
}

/** Until nothing is left to do at this moment. Campaigns are expanded in turns, a step of each. */
export async function advance(
  { db, clock }: { readonly db: Database; readonly clock: Clock },
  signal: AbortSignal,
  log: Log,
): Promise<void> {
  const expand = (campaign: Awaited<ReturnType<typeof listUnexpanded>>[number]) =>
    expandStep({ db, clock }, campaign.workspace_id, campaign.id).catch((err: unknown) => {
      log.error({ err, campaign: campaign.id }, "a campaign's audience could not be looked at");
      return false;
    });
  for (let isBusy = true; isBusy && !signal.aborted; ) {
    await startDueCampaigns(db, clock.now(), MISSED_AFTER_MS);
    isBusy = false;
    for (const campaign of await listUnexpanded(db)) {
      if (signal.aborted) break;
      if (await expand(campaign)) isBusy = true;
    }
    await completeCampaigns(db, clock.now());
  }
}

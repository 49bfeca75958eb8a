/**
 * The recurring task that advances campaigns, in the role jobs: it starts scheduled campaigns that are due, expands
 * audiences into recipients, completes campaigns without queued messages, and pauses campaigns at their limits
 * (auto-pause.ts). One task serves the whole installation; it may be killed at any point, and the next run in any process
 * continues. Sending or resuming a campaign makes the task due at once.
 *
 * Campaigns take turns: each step goes to the campaign that has waited longest, and steps of one workspace do not run at
 * the same time, so that a workspace with costly conditions only delays itself. When no other campaign waits, the next step
 * of a campaign starts before the last has ended. Failing steps are retried with growing delays; after several failures
 * the campaign is paused.
 */
import type { CountryCode } from "libphonenumber-js";
import type { Clock } from "#platform/clock.ts";
import type { Database, Queryable } from "#platform/database/pool.ts";
import { ApiError } from "#platform/errors.ts";
import { PutBack } from "#platform/jobs/attempt.ts";
import { hasten, type Recurring } from "#platform/jobs/schedule.ts";
import type { Log } from "#platform/log/log.ts";
import { HOUR_MS } from "#platform/time-units.ts";
import { expandStep } from "#sending/campaigns/audience/expand.ts";
import { findUnexpanded, recordExpansionFailure } from "#sending/campaigns/audience/expansion-store.ts";
import {
  type CampaignEvent,
  type OnCampaignEvents,
  pauseAndAnnounce,
} from "#sending/campaigns/campaign-events.ts";
import {
  completeCampaigns,
  type MovedCampaign,
  type PauseReason,
  startDueCampaigns,
} from "#sending/campaigns/transitions-store.ts";
import type { OnLimit } from "#workspace/billing/log-reached-limits.ts";
import type { Plans } from "#workspace/billing/plans.ts";
import { type AutoPauseLimits, autoPauseReason } from "./auto-pause.ts";
import { listAutoPauseCounts } from "./auto-pause-counts-store.ts";
import { type CampaignToExpand, type Followable, RunningSteps } from "./running-expansion-steps.ts";

const NAME = "advance-campaigns";
const SECONDS = 2;
/** A scheduled campaign that is later than this (an outage, a restored backup) is paused instead of sent. */
const MISSED_AFTER_MS = 6 * HOUR_MS;
/** Steps at the same time, each on its own connection. */
const AT_ONCE = 2;
/** After this time the task yields its slot to other recurring tasks. */
const SLOT_MS = 20_000;
/** How often an idle worker looks for new campaigns while others work on what is left. */
const IDLE_MS = 500;
/** A campaign is paused after this many failed steps in a row. The first retry waits FAILURE_SECONDS, each next twice as long. */
const MOST_FAILURES = 5;
const FAILURE_SECONDS = 5;
const STATEMENT_TOOK_TOO_LONG = "57014";

interface Dependencies {
  readonly db: Database;
  readonly clock: Clock;
  readonly plans: Plans;
  readonly onLimit?: OnLimit;
  /** People per step. */
  readonly size?: number;
  /** The country of telephone numbers without a country code. */
  readonly smsCountry?: CountryCode | null;
  readonly autoPause?: AutoPauseLimits;
  readonly onCampaignEvents?: OnCampaignEvents;
}

/** Makes the task due now; within a transaction, when that commits. */
export function advanceCampaignsNow(db: Queryable): Promise<void> {
  return hasten(db, NAME);
}

export function advanceCampaigns(deps: Dependencies): Recurring {
  return { name: NAME, seconds: SECONDS, run: ({ signal, log }) => advanceDueCampaigns(deps, signal, log) };
}

/**
 * Works until nothing is due.
 * @throws PutBack after `slotMs`, when more may be due
 */
export async function advanceDueCampaigns(
  deps: Dependencies,
  signal: AbortSignal,
  log: Log,
  slotMs = SLOT_MS,
): Promise<void> {
  const slotEnd = performance.now() + slotMs;
  const { db, clock, onCampaignEvents } = deps;
  const moveOn = async (change: (tx: Queryable, now: Date) => Promise<MovedCampaign[]>) => {
    const now = clock.now();
    await db.transaction(async (tx) => {
      const events = (await change(tx, now)).flatMap((moved) => eventsOf(moved, now));
      if (events.length > 0) await onCampaignEvents?.(tx, events);
    });
  };
  await pauseAtLimits(deps, log);
  const steps = new RunningSteps();
  /** Campaigns for which another step would be of no use in this run. */
  const skipped: string[] = [];
  /** Includes campaigns of the workspaces at work, because campaigns of one workspace take turns too. */
  const isAnotherWaiting = async () => {
    const campaigns = [...skipped, ...steps.campaigns()];
    return (await findUnexpanded(db, clock.now(), { workspaces: [], campaigns })) !== undefined;
  };
  const work = async () => {
    while (!signal.aborted) {
      await moveOn((tx, now) => startDueCampaigns(tx, now, MISSED_AFTER_MS));
      await moveOn(completeCampaigns);
      const busy = steps.workspaces();
      const next = await findUnexpanded(db, clock.now(), { workspaces: busy, campaigns: skipped });
      if (next === undefined && busy.length === 0) return;
      // Since the query, the other worker may have started with the same workspace.
      if (next !== undefined && !steps.workspaces().includes(next.workspace_id)) {
        await steps.make(next, async (onChosen) => {
          const isMade = await expand(deps, next, onChosen, log);
          if (!isMade) skipped.push(next.id);
          return isMade;
        });
      } else {
        const last = (await isAnotherWaiting()) ? undefined : steps.takeFollowable();
        if (last === undefined) await steps.waitForChange(IDLE_MS, signal);
        else await steps.make(last.campaign, (onChosen) => follow(deps, last, onChosen, log));
      }
      if (performance.now() > slotEnd) throw new PutBack();
    }
  };
  const ended = await Promise.allSettled(Array.from({ length: AT_ONCE }, work));
  const faults: unknown[] = ended.flatMap((one) => (one.status === "rejected" ? [one.reason] : []));
  if (faults.length > 0) throw faults.find((fault) => !(fault instanceof PutBack)) ?? faults[0];
}

/**
 * Pauses campaigns that have reached a limit. The pre-send check does so too, but only for messages that are leased after
 * the limit was reached.
 */
async function pauseAtLimits(
  { db, clock, autoPause: limits, onCampaignEvents }: Dependencies,
  log: Log,
): Promise<void> {
  for (const { workspace_id: workspaceId, id, ...tally } of await listAutoPauseCounts(db)) {
    const reason = autoPauseReason(tally, limits);
    if (reason === null) continue;
    const order = { reason, now: clock.now(), onCampaignEvents };
    try {
      const isPaused = await db.transaction((tx) => pauseAndAnnounce(tx, workspaceId, id, order));
      if (isPaused) log.warn({ campaign: id, reason }, "campaign paused automatically");
    } catch (err) {
      // The other campaigns continue; the next run tries again.
      log.error({ err, campaign: id }, "campaign could not be paused");
    }
  }
}

function eventsOf(moved: MovedCampaign, time: Date): CampaignEvent[] {
  const { workspace_id: workspaceId, id: campaignId, name, status, pause_reason: reason } = moved;
  return status === "sent" || status === "paused"
    ? [{ workspaceId, campaignId, name, became: status, reason, time }]
    : [];
}

/** Makes one step. False when another step of the campaign would be of no use in this run. */
async function expand(
  deps: Dependencies,
  { workspace_id: workspaceId, id }: CampaignToExpand,
  onChosen: (to: string) => void,
  log: Log,
): Promise<boolean> {
  const { db, clock, onCampaignEvents } = deps;
  try {
    return await expandStep({ ...deps, onChosen }, workspaceId, id);
  } catch (err) {
    const now = clock.now();
    const failures = await recordExpansionFailure(db, workspaceId, id, { seconds: FAILURE_SECONDS, now });
    log.error({ err, campaign: id, failures }, "campaign audience step failed");
    if (failures >= MOST_FAILURES) {
      const order = { reason: pauseReasonOf(err), now, onCampaignEvents };
      await db.transaction((tx) => pauseAndAnnounce(tx, workspaceId, id, order));
    }
    return false;
  }
}

/**
 * Makes a step after a running one. A failure of this step is not counted, because the step that repeats it fails with
 * the same error.
 */
async function follow(
  deps: Dependencies,
  { campaign: { workspace_id: workspaceId, id }, behind }: Followable,
  onChosen: (to: string) => void,
  log: Log,
): Promise<boolean> {
  try {
    return await expandStep({ ...deps, behind, onChosen }, workspaceId, id);
  } catch (err) {
    log.warn({ err, campaign: id }, "campaign audience step discarded, it will be repeated");
    return false;
  }
}

/** `audience_too_costly` for conditions that are too large for a statement or exceed its time limit. */
function pauseReasonOf(fault: unknown): PauseReason {
  const isTooLong = fault instanceof Error && "code" in fault && fault.code === STATEMENT_TOOK_TOO_LONG;
  return isTooLong || fault instanceof ApiError ? "audience_too_costly" : "audience_failed";
}

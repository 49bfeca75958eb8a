/**
 * What moves campaigns on by themselves, in the role jobs: those whose time has come begin, audiences become recipients,
 * and those that nobody waits for any more are sent. It is one recurring task for the whole installation, cut short by
 * a kill at any place and taken up by whoever is there; whoever sends or resumes a campaign makes it due at once.
 *
 * Audiences are gone through in turns, a step of the campaign that has waited longest, and of one workspace at a time:
 * whoever has costly conditions waits for themselves. While nobody else wants anything, the next step of a campaign begins
 * before the last is over. A campaign whose steps fail is tried again later and later, and in the end paused.
 */
import type { CountryCode } from "libphonenumber-js";
import type { Clock } from "#platform/clock.ts";
import type { Database, Queryable } from "#platform/database/pool.ts";
import { ApiError } from "#platform/errors.ts";
import { PutBack } from "#platform/jobs/attempt.ts";
import { hasten, type Recurring } from "#platform/jobs/schedule.ts";
import type { Log } from "#platform/log/log.ts";
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
import type { OnLimit } from "#workspace/billing/limit-notices.ts";
import type { Plans } from "#workspace/billing/plans.ts";
import { type AutoPauseLimits, autoPauseReason } from "./auto-pause.ts";
import { listAutoPauseCounts } from "./auto-pause-store.ts";
import { type CampaignToExpand, createRunningSteps, type Followable } from "./running-steps.ts";

const NAME = "advance-campaigns";
const SECONDS = 2;
/** Later than this (an outage, a restored backup) a schedule is held instead of mailed. */
const MISSED_AFTER_MS = 6 * 60 * 60 * 1_000;
/** Steps that are made at the same time, each on a connection. */
const AT_ONCE = 2;
/** Before others that recur have its place. */
const PLACE_MS = 20_000;
/** While all that is left is being worked on, something new may come. */
const LOOK_AGAIN_MS = 500;
/** Steps that fail in a row: the second is made so long after the first, and each time it takes twice as long. */
const MOST_FAILURES = 5;
const FAILURE_SECONDS = 5;
const STATEMENT_TOOK_TOO_LONG = "57014";

interface Dependencies {
  readonly db: Database;
  readonly clock: Clock;
  readonly plans: Plans;
  readonly onLimit?: OnLimit;
  /** People a step looks at. */
  readonly size?: number;
  /** Of telephone numbers that are written without their country code. */
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
 * Until nothing is left to do at this moment.
 * @throws PutBack after `placeMs`, when more may be left
 */
export async function advanceDueCampaigns(
  deps: Dependencies,
  signal: AbortSignal,
  log: Log,
  placeMs = PLACE_MS,
): Promise<void> {
  const placeEnd = performance.now() + placeMs;
  const { db, clock, onCampaignEvents } = deps;
  const moveOn = async (change: (tx: Queryable, now: Date) => Promise<MovedCampaign[]>) => {
    const now = clock.now();
    await db.transaction(async (tx) => {
      const news = (await change(tx, now)).flatMap((moved) => eventsOf(moved, now));
      if (news.length > 0) await onCampaignEvents?.(tx, news);
    });
  };
  await pauseAtLimits(deps, log);
  const steps = createRunningSteps();
  const passed: string[] = [];
  /** Of the same workspaces, too: their campaigns take turns. */
  const isAnybodyWaiting = async () => {
    const campaigns = [...passed, ...steps.campaigns()];
    return (await findUnexpanded(db, clock.now(), { workspaces: [], campaigns })) !== undefined;
  };
  const work = async () => {
    while (!signal.aborted) {
      await moveOn((tx, now) => startDueCampaigns(tx, now, MISSED_AFTER_MS));
      await moveOn(completeCampaigns);
      const busy = steps.workspaces();
      const next = await findUnexpanded(db, clock.now(), { workspaces: busy, campaigns: passed });
      if (next === undefined && busy.length === 0) return;
      // Between the look and here the other one may have begun with the same.
      if (next !== undefined && !steps.workspaces().includes(next.workspace_id)) {
        await steps.make(next, async (onChosen) => {
          const isMade = await expand(deps, next, onChosen, log);
          if (!isMade) passed.push(next.id);
          return isMade;
        });
      } else {
        const last = (await isAnybodyWaiting()) ? undefined : steps.takeFollowable();
        if (last === undefined) await steps.waitForNews(LOOK_AGAIN_MS, signal);
        else await steps.make(last.campaign, (onChosen) => follow(deps, last, onChosen, log));
      }
      if (performance.now() > placeEnd) throw new PutBack();
    }
  };
  const ended = await Promise.allSettled(Array.from({ length: AT_ONCE }, work));
  const faults: unknown[] = ended.flatMap((one) => (one.status === "rejected" ? [one.reason] : []));
  if (faults.length > 0) throw faults.find((fault) => !(fault instanceof PutBack)) ?? faults[0];
}

/**
 * Stops what the brake says has to stop. Workers ask it when they take messages from the queue; what is left of a campaign
 * may be in their hands already.
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
      if (isPaused) log.warn({ campaign: id, reason }, "a campaign was paused by the service");
    } catch (err) {
      // Schedules and the other campaigns go on; it is asked again in two seconds.
      log.error({ err, campaign: id }, "a campaign could not be paused");
    }
  }
}

function eventsOf(moved: MovedCampaign, time: Date): CampaignEvent[] {
  const { workspace_id: workspaceId, id: campaignId, name, status, pause_reason: reason } = moved;
  return status === "sent" || status === "paused"
    ? [{ workspaceId, campaignId, name, became: status, reason, time }]
    : [];
}

/** A step; false when there is no use in another one now. */
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
    log.error({ err, campaign: id, failures }, "a campaign's audience could not be looked at");
    if (failures >= MOST_FAILURES) {
      const order = { reason: reasonOf(err), now, onCampaignEvents };
      await db.transaction((tx) => pauseAndAnnounce(tx, workspaceId, id, order));
    }
    return false;
  }
}

/** A step behind one that is under way. What keeps it from being made meets the step that is made in its place. */
async function follow(
  deps: Dependencies,
  { campaign: { workspace_id: workspaceId, id }, behind }: Followable,
  onChosen: (to: string) => void,
  log: Log,
): Promise<boolean> {
  try {
    return await expandStep({ ...deps, behind, onChosen }, workspaceId, id);
  } catch (err) {
    log.warn({ err, campaign: id }, "a step of a campaign's expansion has to be made anew");
    return false;
  }
}

/** Conditions that are more than a statement can hold, or take longer than one may. */
function reasonOf(fault: unknown): PauseReason {
  const isTooLong = fault instanceof Error && "code" in fault && fault.code === STATEMENT_TOOK_TOO_LONG;
  return isTooLong || fault instanceof ApiError ? "audience_too_costly" : "audience_failed";
}

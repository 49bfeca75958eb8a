/**
 * Expansion: a campaign's audience becomes messages, in bounded steps. Each step is one transaction that also moves the
 * campaign's cursor (`expanded_to`), so any process may make the next step, and a killed step has either happened or not.
 * A step goes through four stages:
 *
 *     candidates   the campaign, its audience, and where in it the step begins   findCandidates
 *     covered      how many of them allowance and balance cover                  coverCandidates
 *     allowed      the next people in order of id, without those who get no mail chooseNext, insertRecipients
 *     written      messages, recipients, counters and cursor                     writeStep
 *
 * The last two share one statement. A step may start while the step before it is still running; it is committed after that
 * one, or discarded. The first step checks the sender and the content. A campaign that can no longer be sent (its list was
 * deleted, its sender is no longer verified) is paused with a reason.
 */

import type { CountryCode } from "libphonenumber-js";
import { findMailingList } from "#audience/mailing-lists/store.ts";
import type { IdRange } from "#audience/segments/workspace-members-store.ts";
import { notifyWorkers } from "#delivery/queue/notify-workers.ts";
import { expiryOf } from "#delivery/queue/retry-schedule.ts";
import { maySendAs } from "#identity/may-send-as.ts";
import type { Clock } from "#platform/clock.ts";
import type { Database, Queryable } from "#platform/database/pool.ts";
import { newId, nilId, type WorkspaceId } from "#platform/ids.ts";
import { coveredByAllowance } from "#sending/acceptance/take-allowance.ts";
import { type OnCampaignEvents, pauseAndAnnounce } from "#sending/campaigns/campaign-events.ts";
import type { PauseReason } from "#sending/campaigns/transitions-store.ts";
import { compileForWorkspace } from "#sending/content/compile-for-workspace.ts";
import { tracksOf } from "#sending/content/resolve-tracking-setting.ts";
import { findUnreachable } from "#sending/sms/audience-phone-numbers-store.ts";
import { nextHour } from "#workspace/billing/derive-meter-reading.ts";
import type { OnLimit } from "#workspace/billing/log-reached-limits.ts";
import type { Plans } from "#workspace/billing/plans.ts";
import {
  advanceExpansion,
  beginExpansion,
  commitAsynchronously,
  type ExpandingCampaign,
  type ExpansionStart,
  findExpanding,
  findStretchEnd,
  lockExpansion,
  waitForHourlyCap,
} from "./expansion-store.ts";
import { type CampaignAudience, findAudience, isOfWorkspace } from "./find-audience.ts";
import {
  addQueuedByDomain,
  type Chosen,
  choosePeople,
  chosenSql,
  countInactive,
  type ExpansionStepResult,
  hasPeopleAfter,
  insertRecipients,
} from "./recipients-store.ts";

/** People per step: about a tenth of a second of work. */
const STEP = 5_000;

/** A campaign at the hourly cap is tried again in the next hour, or sooner, because an operator may lift the cap. */
const CAP_RETRY_MS = 60_000;
const capRetryAt = (now: Date) => new Date(Math.min(nextHour(now).getTime(), now.getTime() + CAP_RETRY_MS));

/** Rolls a step back: its campaign was paused or cancelled meanwhile, or the step before it was not committed. */
class StepDiscarded extends Error {}

/** A running step, as the step after it sees it. */
export interface Predecessor {
  /** The last subscriber id of the step. */
  readonly to: string;
  /** Resolves to whether the step was committed; never rejects. */
  readonly isMade: Promise<boolean>;
}

export interface Expansion {
  readonly db: Database;
  readonly clock: Clock;
  readonly plans: Plans;
  /** People per step. */
  readonly size?: number | undefined;
  readonly smsCountry?: CountryCode | null;
  readonly onCampaignEvents?: OnCampaignEvents | undefined;
  readonly onLimit?: OnLimit | undefined;
  /**
   * The running step that this one follows. The step writes its recipients on its own connection, waits for the
   * predecessor, and is discarded if the predecessor was discarded. It never pauses the campaign: the next step without
   * a predecessor does.
   */
  readonly behind?: Predecessor | undefined;
  /** Called with the last subscriber id of the step, as soon as another step may follow. */
  readonly onChosen?: ((to: string) => void) | undefined;
}

/**
 * Makes one step of one campaign. No recipient gets two messages: a step takes the people after the cursor and moves the cursor
 * in the same commit.
 * @returns false when there was nothing to do, the campaign was paused, or another process is making this step
 */
export async function expandStep(
  { db, clock, size = STEP, smsCountry = null, onCampaignEvents, ...expansion }: Expansion,
  workspaceId: WorkspaceId,
  id: string,
): Promise<boolean> {
  const order = { ...expansion, workspaceId, id, size, smsCountry, onCampaignEvents, now: clock.now() };
  try {
    return await db.transaction((tx) => makeStep(tx, order));
  } catch (fault) {
    if (fault instanceof StepDiscarded) return false;
    throw fault;
  }
}

interface StepOrder extends Pick<Expansion, "plans" | "behind" | "onChosen" | "onLimit"> {
  readonly workspaceId: WorkspaceId;
  readonly id: string;
  readonly smsCountry: CountryCode | null;
  readonly size: number;
  readonly now: Date;
  readonly onCampaignEvents: OnCampaignEvents | undefined;
}

async function makeStep(tx: Queryable, order: StepOrder): Promise<boolean> {
  const { workspaceId, id, behind } = order;
  await commitAsynchronously(tx);
  if (behind === undefined && !(await lockExpansion(tx, id))) return false;
  const campaign = await findExpanding(tx, workspaceId, id);
  if (campaign === undefined) return false;
  const candidates = await findCandidates(tx, campaign, order);
  if (candidates === null) return false;
  const covered = await coverCandidates(tx, candidates, order);
  if (covered === null) return false;
  const next = await chooseNext(tx, candidates, { ...covered, stepSize: order.size });
  // The ids are made before a following step makes its own, so that message ids have the order of subscriber ids.
  const messageIds = Array.from({ length: next.chosen.seen }, newId);
  const mayBeFollowed = !next.isOver && !covered.isLimited && candidates.from !== null;
  if (mayBeFollowed) order.onChosen?.(next.to);
  await writeStep(tx, { ...candidates, ...next, messageIds }, order);
  await notifyWorkers(tx);
  return true;
}

/** Stage 1: the people whom the campaign goes to now, and where in their order the step begins. */
interface Candidates {
  readonly campaign: ExpandingCampaign;
  readonly audience: CampaignAudience;
  /** The results of the checks that only the first step makes; null in all other steps. */
  readonly start: ExpansionStart | null;
  /** The cursor that the step moves; null before the first step. */
  readonly from: string | null;
  /** People with a higher id are next. */
  readonly after: string;
  /** For an audience of the whole workspace: the step ends at this id; undefined when no people are left after it. */
  readonly stretch: IdRange | undefined;
}

/** Null when the campaign cannot be sent: then it is paused with a reason. */
async function findCandidates(
  tx: Queryable,
  campaign: ExpandingCampaign,
  order: StepOrder,
): Promise<Candidates | null> {
  const { workspaceId, now, behind, size } = order;
  const from = behind?.to ?? campaign.expanded_to;
  const after = from ?? nilId;
  const stretch = isOfWorkspace(campaign)
    ? { after, to: await findStretchEnd(tx, workspaceId, after, size) }
    : undefined;
  const audience = await findAudience(tx, workspaceId, campaign, now, stretch);
  const start = audience && from === null ? await startOf(tx, workspaceId, campaign, audience) : null;
  if (audience !== undefined && typeof start !== "string")
    return { campaign, audience, start, from, after, stretch };
  if (behind !== undefined) throw new StepDiscarded();
  const reason = typeof start === "string" ? start : "audience_missing";
  await pauseAndAnnounce(tx, workspaceId, campaign.id, { ...order, reason });
  return null;
}

/** The result of the checks that only the first step makes, or the reason why the campaign cannot be sent. */
async function startOf(
  tx: Queryable,
  workspaceId: WorkspaceId,
  campaign: ExpandingCampaign,
  audience: CampaignAudience,
): Promise<ExpansionStart | PauseReason> {
  if (!(await maySendAs(tx, workspaceId, campaign.from_email)).allowed) return "sender_not_verified";
  const list = audience.list && (await findMailingList(tx, workspaceId, audience.list.id));
  const listId = list?.id ?? null;
  const tracks = tracksOf(campaign, list ?? undefined);
  const compiled = await compileForWorkspace(
    tx,
    workspaceId,
    { ...campaign, ...tracks },
    { listId, timezone: campaign.timezone },
  );
  if (!compiled.ok) return "content_invalid";
  const isWholeList = campaign.recipient_type === "mailing_list" && listId !== null;
  return {
    listId,
    listName: list?.name ?? null,
    segmentName: audience.segmentName,
    fromName: list?.from_name ?? null,
    replyTo: list?.reply_to_email ?? null,
    tracksOpens: tracks.tracks_opens,
    tracksClicks: tracks.tracks_clicks,
    links: compiled.content.facts.links,
    excluded: isWholeList
      ? await countInactive(tx, workspaceId, listId)
      : { unsubscribed: 0, suppressed: 0, invalid: 0 },
  };
}

/** Stage 2: how many people the step may take. */
interface Covered {
  readonly size: number;
  /** Whether the workspace is near a limit. Then steps run one after the other, under the lock of the account. */
  readonly isLimited: boolean;
}

/** Null when nothing is covered: at an hourly cap the campaign waits for the next hour, otherwise it is paused. */
async function coverCandidates(
  tx: Queryable,
  { campaign, audience, after }: Candidates,
  order: StepOrder,
): Promise<Covered | null> {
  const { workspaceId, id, plans, size, now } = order;
  if (campaign.message_type === "sms") return { size, isLimited: false };
  const { covered, refusal } = await coveredByAllowance(tx, plans, workspaceId, size, now);
  if (refusal === null) return { size: covered, isLimited: false };
  if (order.behind !== undefined) throw new StepDiscarded();
  if (covered > 0) return { size: covered, isLimited: true };
  // With no people left there is nothing to pay for: the step only completes the expansion.
  if (!(await hasPeopleAfter(tx, audience.people, after))) return { size, isLimited: true };
  order.onLimit?.(workspaceId, refusal);
  if (refusal === "hourly_cap") await waitForHourlyCap(tx, workspaceId, id, capRetryAt(now));
  else await pauseAndAnnounce(tx, workspaceId, id, { ...order, reason: refusal });
  return null;
}

/** Stage 3: the next people, before insertRecipients leaves out those who get no mail. */
interface NextPeople {
  readonly chosen: Chosen;
  /** Where the cursor moves to. */
  readonly to: string;
  /** Whether no people are left after them. */
  readonly isOver: boolean;
}

async function chooseNext(
  tx: Queryable,
  { audience, after, stretch }: Candidates,
  { size, stepSize }: { readonly size: number; readonly stepSize: number },
): Promise<NextPeople> {
  const chosen = await choosePeople(tx, audience.people, { after, size });
  // If fewer people are covered than a step takes, the stretch may contain more people.
  const isWhole = chosen.seen < size || (stretch !== undefined && size === stepSize);
  const stretchEnd = isWhole ? stretch?.to : undefined;
  return { chosen, to: stretchEnd ?? chosen.to ?? after, isOver: isWhole && stretchEnd === undefined };
}

type StepToWrite = Candidates & NextPeople & { readonly messageIds: readonly string[] };

/** Stage 4. @throws StepDiscarded */
async function writeStep(tx: Queryable, step: StepToWrite, order: StepOrder): Promise<void> {
  const { workspaceId, id, behind, now } = order;
  const { start, from, to, isOver } = step;
  const { by_domain, returned, ...counts } = await addRecipients(tx, step, order);
  if (start !== null) await beginExpansion(tx, workspaceId, id, start);
  // A person who was removed and came back may have got a message in the predecessor, which this step does not see yet.
  if (behind && returned > 0) throw new StepDiscarded();
  // Before this point the step has taken no lock that its predecessor needs.
  if (behind && !((await behind.isMade) && (await lockExpansion(tx, id)))) throw new StepDiscarded();
  await addQueuedByDomain(tx, workspaceId, id, by_domain);
  if (!(await advanceExpansion(tx, workspaceId, id, { ...counts, from, to, isOver }, now)))
    throw new StepDiscarded();
}

async function addRecipients(
  tx: Queryable,
  { campaign, audience, chosen, messageIds }: StepToWrite,
  { workspaceId, now, smsCountry: country }: StepOrder,
): Promise<ExpansionStepResult> {
  const { message_type, phone_field_name: fieldName } = campaign;
  const isSms = message_type === "sms" && fieldName !== null;
  const unreachable = isSms
    ? await findUnreachable(tx, workspaceId, chosenSql(chosen), { fieldName, country })
    : [];
  return insertRecipients(tx, workspaceId, {
    ...audience.terms,
    chosen,
    unreachable,
    originId: campaign.id,
    originName: campaign.name,
    subject: campaign.subject,
    fromEmail: campaign.from_email,
    isSms,
    bytes: campaign.bytes,
    messageIds,
    createdAt: now,
    expiresAt: expiryOf(now, campaign.retry_hours),
  });
}

/**
 * From a campaign to its recipients, in bounded steps: each is a transaction, with the cursor of the audience in the same
 * commit. Any process may make the next step, and one that is killed has made it or has not. A step may begin before the
 * one in front of it is over; it is made after that one, or not at all. The first of them finds out what the campaign is
 * about at this moment; a campaign that cannot go out after all (its list is gone, its sender is not verified any more)
 * is paused and says why.
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
import { coveredByAllowance } from "#sending/acceptance/allowance.ts";
import { type OnCampaignEvents, pauseAndAnnounce } from "#sending/campaigns/campaign-events.ts";
import type { PauseReason } from "#sending/campaigns/transitions-store.ts";
import { compileForWorkspace } from "#sending/content/compile-for-workspace.ts";
import { tracksOf } from "#sending/content/tracking.ts";
import { findUnreachable } from "#sending/sms/phone-numbers-store.ts";
import type { OnLimit } from "#workspace/billing/limit-notices.ts";
import { nextHour } from "#workspace/billing/meter-reading.ts";
import type { Plans } from "#workspace/billing/plans.ts";
import { type CampaignAudience, findAudience, isOfWorkspace } from "./audience.ts";
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
import {
  addQueuedByDomain,
  type Chosen,
  choosePeople,
  chosenSql,
  countInactive,
  type EligibilityTerms,
  type ExpansionStepResult,
  hasPeopleAfter,
  insertRecipients,
} from "./recipients-store.ts";

/** People a step looks at: a tenth of a second's work. */
const STEP = 5_000;

/** An hourly cap is over with the hour, or sooner: when an operator lifts it. */
const LOOK_AGAIN_MS = 60_000;
const lookAgainAt = (now: Date) => new Date(Math.min(nextHour(now).getTime(), now.getTime() + LOOK_AGAIN_MS));

/** Takes back a step whose campaign was paused or cancelled meanwhile, or whose predecessor came to nothing. */
class StepDiscarded extends Error {}

/** A step that is being made, as the one behind it sees it. */
export interface Predecessor {
  /** The last of its people. */
  readonly to: string;
  /** Whether it is committed, as soon as that is known; does not reject. */
  readonly isMade: Promise<boolean>;
}

export interface Expansion {
  readonly db: Database;
  readonly clock: Clock;
  readonly plans: Plans;
  readonly size?: number | undefined;
  readonly smsCountry?: CountryCode | null;
  readonly onCampaignEvents?: OnCampaignEvents | undefined;
  readonly onLimit?: OnLimit | undefined;
  /**
   * The step begins behind this one, before that is over: it makes its recipients on a connection of its own, and then
   * waits. It is made only if its predecessor was, and decides nothing about the campaign: what keeps it from being made
   * meets the step that is made in its place.
   */
  readonly behind?: Predecessor | undefined;
  /** Called with the last of the step's people, when somebody may begin with the next behind it. */
  readonly onChosen?: ((to: string) => void) | undefined;
}

/**
 * One step of one campaign; false when there was nothing to do, or somebody else is at it. Everybody gets one message: a
 * step takes those behind the cursor and moves it from there in the same commit, or leaves nothing.
 */
export async function expandStep(
  { db, clock, size = STEP, smsCountry = null, onCampaignEvents, ...expansion }: Expansion,
  workspaceId: WorkspaceId,
  id: string,
): Promise<boolean> {
  const order = { ...expansion, size, smsCountry, onCampaignEvents, now: clock.now() };
  try {
    return await db.transaction((tx) => step(tx, workspaceId, id, order));
  } catch (fault) {
    if (fault instanceof StepDiscarded) return false;
    throw fault;
  }
}

interface StepOrder extends Pick<Expansion, "plans" | "behind" | "onChosen" | "onLimit"> {
  readonly smsCountry: CountryCode | null;
  readonly size: number;
  readonly now: Date;
  readonly onCampaignEvents: OnCampaignEvents | undefined;
}

async function step(tx: Queryable, workspaceId: WorkspaceId, id: string, order: StepOrder): Promise<boolean> {
  const { now, behind } = order;
  await commitAsynchronously(tx);
  if (behind === undefined && !(await lockExpansion(tx, id))) return false;
  const campaign = await findExpanding(tx, workspaceId, id);
  if (campaign === undefined) return false;
  const from = behind?.to ?? campaign.expanded_to;
  const after = from ?? nilId;
  const stretch = isOfWorkspace(campaign)
    ? { after, to: await findStretchEnd(tx, workspaceId, after, order.size) }
    : undefined;
  const found = await findAudienceOrPause(tx, workspaceId, campaign, {
    ...order,
    stretch,
    isFirst: from === null,
  });
  if (found === null) return false;
  const { audience, beginning } = found;
  const { size, isLimited } = await sizeCovered(tx, workspaceId, campaign, audience, { ...order, after });
  if (size === 0) return false;
  const chosen = await choosePeople(tx, audience.people, { after, size });
  const { to = after, isOver } = endOf(chosen, size, stretch && { to: stretch.to, size: order.size });
  // Before the next step makes its own: messages have the order of people.
  const messageIds = Array.from({ length: chosen.seen }, newId);
  const mayBeFollowed = !isOver && !isLimited && from !== null;
  if (mayBeFollowed) order.onChosen?.(to);
  const { by_domain, returned, ...made } = await addRecipients(tx, workspaceId, campaign, audience.terms, {
    ...order,
    chosen,
    messageIds,
  });
  if (beginning !== null) await beginExpansion(tx, workspaceId, id, beginning);
  // The messages of those who were removed may be in a step that it does not see yet.
  if (behind && returned > 0) throw new StepDiscarded();
  // Up to here it holds nothing that its predecessor may want.
  if (behind && !((await behind.isMade) && (await lockExpansion(tx, id)))) throw new StepDiscarded();
  await addQueuedByDomain(tx, workspaceId, id, by_domain);
  if (!(await advanceExpansion(tx, workspaceId, id, { ...made, from, to, isOver }, now)))
    throw new StepDiscarded();
  await notifyWorkers(tx);
  return true;
}

/** Whom the campaign goes to, and with the first step what is found out once; null when it is paused, and says why. */
async function findAudienceOrPause(
  tx: Queryable,
  workspaceId: WorkspaceId,
  campaign: ExpandingCampaign,
  {
    stretch,
    isFirst,
    ...order
  }: StepOrder & { readonly stretch: IdRange | undefined; readonly isFirst: boolean },
): Promise<{ readonly audience: CampaignAudience; readonly beginning: ExpansionStart | null } | null> {
  const audience = await findAudience(tx, workspaceId, campaign, order.now, stretch);
  const beginning = audience && isFirst ? await begin(tx, workspaceId, campaign, audience) : null;
  if (audience !== undefined && typeof beginning !== "string") return { audience, beginning };
  if (order.behind !== undefined) throw new StepDiscarded();
  const reason = typeof beginning === "string" ? beginning : "audience_missing";
  await pauseAndAnnounce(tx, workspaceId, campaign.id, { ...order, reason });
  return null;
}

/** The last of the people a step deals with, and whether nobody is left behind them. */
function endOf(
  { seen, to }: Chosen,
  size: number,
  stretch: { readonly to: string | undefined; readonly size: number } | undefined,
): { readonly to: string | undefined; readonly isOver: boolean } {
  // With less covered than a step may look at, there may be more in the stretch.
  const isWhole = seen < size || size === stretch?.size;
  const last = isWhole ? stretch?.to : undefined;
  return { to: last ?? to ?? undefined, isOver: isWhole && last === undefined };
}

/**
 * As many people as allowance and balance cover. When they cover nobody, the campaign is paused and says why; at an hourly
 * cap it only waits for the next hour. Where there is a limit steps are made one after the other, under the account's lock.
 */
async function sizeCovered(
  tx: Queryable,
  workspaceId: WorkspaceId,
  { id, message_type }: ExpandingCampaign,
  { people }: CampaignAudience,
  { after, ...order }: StepOrder & { readonly after: string },
): Promise<{ readonly size: number; readonly isLimited: boolean }> {
  const { plans, size, now } = order;
  if (message_type === "sms") return { size, isLimited: false };
  const { covered, refusal } = await coveredByAllowance(tx, plans, workspaceId, size, now);
  if (refusal === null) return { size: covered, isLimited: false };
  if (order.behind !== undefined) throw new StepDiscarded();
  if (covered > 0) return { size: covered, isLimited: true };
  // Nobody is left who would have to be paid for: the last step finds that out.
  if (!(await hasPeopleAfter(tx, people, after))) return { size, isLimited: true };
  order.onLimit?.(workspaceId, refusal);
  if (refusal === "hourly_cap") await waitForHourlyCap(tx, workspaceId, id, lookAgainAt(now));
  else await pauseAndAnnounce(tx, workspaceId, id, { ...order, reason: refusal });
  return { size: 0, isLimited: true };
}

/** What is found out once, or why the campaign cannot go out. */
async function begin(
  tx: Queryable,
  workspaceId: WorkspaceId,
  campaign: ExpandingCampaign,
  audience: CampaignAudience,
): Promise<ExpansionStart | PauseReason> {
  if (!(await maySendAs(tx, workspaceId, campaign.from_email)).allowed) return "sender_not_verified";
  const list = audience.list && (await findMailingList(tx, workspaceId, audience.list.id));
  const listId = list?.id ?? null;
  const tracks = tracksOf(campaign, list ?? undefined);
  const place = { listId, timezone: campaign.timezone };
  const compiled = await compileForWorkspace(tx, workspaceId, { ...campaign, ...tracks }, place);
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

async function addRecipients(
  tx: Queryable,
  workspaceId: WorkspaceId,
  campaign: ExpandingCampaign,
  terms: EligibilityTerms,
  {
    chosen,
    messageIds,
    now,
    smsCountry: country,
  }: StepOrder & { readonly chosen: Chosen; readonly messageIds: readonly string[] },
): Promise<ExpansionStepResult> {
  const { message_type, phone_field_name: fieldName } = campaign;
  const isSms = message_type === "sms" && fieldName !== null;
  const unreachable = isSms
    ? await findUnreachable(tx, workspaceId, chosenSql(chosen), { fieldName, country })
    : [];
  return insertRecipients(tx, workspaceId, {
    ...terms,
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

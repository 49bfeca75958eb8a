/**
 * From a campaign to its recipients, in bounded steps: each is a transaction, with the cursor of the audience in the same
 * commit. Any process may make the next step, and one that is killed has made it or has not. The first of them finds
 * out what the campaign is about at this moment; a campaign that cannot go out after all (its list is gone, its sender is
 * not verified any more) is paused and says why.
 */
import type { CountryCode } from "libphonenumber-js";
import { findMailingList } from "../../../audience/mailing-lists/store.ts";
import { notifyWorkers } from "../../../delivery/channel.ts";
import { maySendAs } from "../../../identity/may-send-as.ts";
import type { Clock } from "../../../platform/clock.ts";
import type { Database, Queryable } from "../../../platform/database/pool.ts";
import { newId, nilId, type WorkspaceId } from "../../../platform/ids.ts";
import type { Plans } from "../../../workspace/billing/plans.ts";
import { nextHour } from "../../../workspace/billing/reading.ts";
import { coveredOf } from "../../allowance.ts";
import { findUnreachable } from "../../sms/unreachable.ts";
import { compileFor } from "../content/campaign-content.ts";
import { tracksOf } from "../content/tracking.ts";
import { type OnCampaigns, pauseAndTell } from "../lifecycle/campaign-news.ts";
import type { PauseReason } from "../lifecycle/transitions-store.ts";
import { type Audience, findAudience, isOfWorkspace } from "./audience.ts";
import {
  advanceExpansion,
  type Beginning,
  beginExpansion,
  type Expanding,
  findExpanding,
  findStretchEnd,
  lockExpansion,
  putOffExpansion,
} from "./expansion-store.ts";
import { countInactive, insertRecipients, isAnybodyBehind } from "./recipients-store.ts";

/** People a step looks at: a tenth of a second's work. */
const STEP = 5_000;
/** Retried for this long, then given up; counted from when the recipient was made. */
const EXPIRES_AFTER_MS = 72 * 60 * 60 * 1_000;

/** Takes back a step whose campaign was paused or cancelled meanwhile. */
class Overtaken extends Error {}

/** One step of one campaign; false when there was nothing to do, or somebody else is at it. */
export async function expandStep(
  {
    db,
    clock,
    plans,
    size = STEP,
    smsCountry = null,
    onCampaigns,
  }: {
    readonly db: Database;
    readonly clock: Clock;
    readonly plans: Plans;
    readonly size?: number;
    readonly smsCountry?: CountryCode | null;
    readonly onCampaigns?: OnCampaigns | undefined;
  },
  workspaceId: WorkspaceId,
  id: string,
): Promise<boolean> {
  try {
    return await db.transaction((tx) =>
      step(tx, workspaceId, id, { plans, size, now: clock.now(), smsCountry, onCampaigns }),
    );
  } catch (fault) {
    if (fault instanceof Overtaken) return false;
    throw fault;
  }
}

interface StepOrder {
  readonly plans: Plans;
  readonly smsCountry: CountryCode | null;
  readonly size: number;
  readonly now: Date;
  readonly onCampaigns: OnCampaigns | undefined;
}

async function step(tx: Queryable, workspaceId: WorkspaceId, id: string, order: StepOrder): Promise<boolean> {
  const { now } = order;
  if (!(await lockExpansion(tx, id))) return false;
  const campaign = await findExpanding(tx, workspaceId, id);
  if (campaign === undefined) return false;
  const after = campaign.expanded_to ?? nilId;
  const stretch = isOfWorkspace(campaign)
    ? { after, to: await findStretchEnd(tx, workspaceId, after, order.size) }
    : undefined;
  const audience = await findAudience(tx, workspaceId, campaign, now, stretch);
  const beginning =
    audience && campaign.expanded_to === null ? await begin(tx, workspaceId, campaign, audience) : null;
  if (audience === undefined || typeof beginning === "string") {
    const reason = typeof beginning === "string" ? beginning : "audience_missing";
    await pauseAndTell(tx, workspaceId, id, { ...order, reason });
    return false;
  }
  const size = await sizeCovered(tx, workspaceId, campaign, audience, { ...order, after });
  if (size === 0) return false;
  const { seen, to, ...found } = await addRecipients(tx, workspaceId, campaign, audience, {
    ...order,
    size,
    after,
  });
  if (beginning !== null) await beginExpansion(tx, workspaceId, id, beginning);
  // With less covered than a step may look at, there may be more in the stretch.
  const isWhole = seen < size || (stretch !== undefined && size === order.size);
  const isOver = isWhole && stretch?.to === undefined;
  const progress = { ...found, to: (isWhole ? stretch?.to : undefined) ?? to ?? after, isOver };
  if (!(await advanceExpansion(tx, workspaceId, id, progress, now))) throw new Overtaken();
  await notifyWorkers(tx);
  return true;
}

/**
 * As many people as allowance and balance cover. When they cover nobody, the campaign is paused and says why; at an hourly
 * cap it only waits for the next hour.
 */
async function sizeCovered(
  tx: Queryable,
  workspaceId: WorkspaceId,
  { id, message_type }: Expanding,
  { people }: Audience,
  { after, ...order }: StepOrder & { readonly after: string },
): Promise<number> {
  const { plans, size, now } = order;
  if (message_type === "sms") return size;
  const { covered, refusal } = await coveredOf(tx, plans, workspaceId, size, now);
  if (covered > 0 || refusal === null) return covered;
  // Nobody is left who would have to be paid for: the last step finds that out.
  if (!(await isAnybodyBehind(tx, people, after))) return size;
  if (refusal === "hourly_cap") await putOffExpansion(tx, workspaceId, id, nextHour(now));
  else await pauseAndTell(tx, workspaceId, id, { ...order, reason: refusal });
  return 0;
}

/** What is found out once, or why the campaign cannot go out. */
async function begin(
  tx: Queryable,
  workspaceId: WorkspaceId,
  campaign: Expanding,
  { list, segmentName }: Audience,
): Promise<Beginning | PauseReason> {
  if (!(await maySendAs(tx, workspaceId, campaign.from_email)).allowed) return "sender_not_verified";
  const listId = list?.id ?? null;
  const tracks = tracksOf(
    campaign,
    listId === null ? undefined : await findMailingList(tx, workspaceId, listId),
  );
  const place = { listId, timezone: campaign.timezone };
  const compiled = await compileFor(tx, workspaceId, { ...campaign, ...tracks }, place);
  if (!compiled.ok) return "content_invalid";
  const isWholeList = campaign.recipient_type === "mailing_list" && listId !== null;
  return {
    listId,
    listName: list?.name ?? null,
    segmentName,
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
  campaign: Expanding,
  { people, terms }: Audience,
  { size, now, after, smsCountry: country }: StepOrder & { readonly after: string },
) {
  const { message_type, phone_field_name: fieldName } = campaign;
  const isSms = message_type === "sms" && fieldName !== null;
  const unreachable = isSms
    ? await findUnreachable(tx, workspaceId, people, { after, limit: size }, { fieldName, country })
    : [];
  return insertRecipients(tx, workspaceId, {
    ...terms,
    audience: people,
    after,
    unreachable,
    originId: campaign.id,
    originName: campaign.name,
    subject: campaign.subject,
    fromEmail: campaign.from_email,
    isSms,
    bytes: campaign.bytes,
    messageIds: Array.from({ length: size }, newId),
    createdAt: now,
    expiresAt: new Date(now.getTime() + EXPIRES_AFTER_MS),
  });
}

/**
 * From a campaign to its recipients, in bounded steps: each is a transaction under the campaign's row lock, with the
 * cursor of the audience in the same commit. Any process may make the next step, and one that is killed has made it or
 * has not. The first of them finds out what the campaign is about at this moment; a campaign that cannot go out after
 * all (its list is gone, its sender is not verified any more) is paused and says why.
 */
import { findMailingList } from "../../audience/mailing-lists/store.ts";
import { notifyWorkers } from "../../delivery/channel.ts";
import { maySendAs } from "../../identity/may-send-as.ts";
import type { Clock } from "../../platform/clock.ts";
import type { Database, Queryable } from "../../platform/database/pool.ts";
import { newId, type WorkspaceId } from "../../platform/ids.ts";
import { type Audience, findAudience } from "./audience.ts";
import { compileFor } from "./content.ts";
import { advanceExpansion, beginExpansion, type Expanding, lockExpanding } from "./expansion-store.ts";
import { countInactive, insertRecipients } from "./recipients-store.ts";
import { tracksOf } from "./tracking.ts";
import { type PauseReason, pauseCampaign } from "./transitions-store.ts";

/** A step takes a tenth of a second: so long may a pause have to wait for it. */
const STEP = 5_000;
/** Retried for this long, then given up; counted from when the recipient was made. */
const EXPIRES_AFTER_MS = 72 * 60 * 60 * 1_000;

/** One step of one campaign; false when there was nothing to do, or somebody else is at it. */
export function expandStep(
  { db, clock, size = STEP }: { readonly db: Database; readonly clock: Clock; readonly size?: number },
  workspaceId: WorkspaceId,
  id: string,
): Promise<boolean> {
  return db.transaction(async (tx) => {
    const campaign = await lockExpanding(tx, workspaceId, id);
    if (campaign === undefined) return false;
    const now = clock.now();
    const audience = await findAudience(tx, workspaceId, campaign, now);
    const obstacle =
      audience === undefined ? "audience_missing" : await begin(tx, workspaceId, campaign, audience);
    if (obstacle !== null || audience === undefined) {
      await pauseCampaign(tx, workspaceId, id, obstacle, now);
      return false;
    }
    await addRecipients(tx, workspaceId, campaign, audience, { size, now });
    await notifyWorkers(tx);
    return true;
  });
}

/** What is needed once; null when all is well. */
async function begin(
  tx: Queryable,
  workspaceId: WorkspaceId,
  campaign: Expanding,
  { list, segmentName }: Audience,
): Promise<PauseReason | null> {
  if (campaign.expanded_to !== null) return null;
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
  await beginExpansion(tx, workspaceId, campaign.id, {
    listId,
    listName: list?.name ?? null,
    segmentName,
    tracksOpens: tracks.tracks_opens,
    tracksClicks: tracks.tracks_clicks,
    links: compiled.content.facts.links,
    excluded: isWholeList ? await countInactive(tx, workspaceId, listId) : { unsubscribed: 0, suppressed: 0 },
  });
  return null;
}

async function addRecipients(
  tx: Queryable,
  workspaceId: WorkspaceId,
  campaign: Expanding,
  { people, list }: Audience,
  { size, now }: { readonly size: number; readonly now: Date },
): Promise<void> {
  const step = await insertRecipients(tx, workspaceId, {
    campaignId: campaign.id,
    campaignName: campaign.name,
    subject: campaign.subject,
    fromEmail: campaign.from_email,
    bytes: bytesOf(campaign),
    audience: people,
    listId: list?.id ?? null,
    isActive: campaign.recipient_type === "mailing_list",
    segmentId: campaign.recipient_type === "segment" ? campaign.segment_id : null,
    after: campaign.expanded_to ?? "00000000-0000-0000-0000-000000000000",
    messageIds: Array.from({ length: size }, newId),
    now,
    expiresAt: new Date(now.getTime() + EXPIRES_AFTER_MS),
  });
  await advanceExpansion(tx, workspaceId, campaign.id, { ...step, isOver: step.seen < size });
}

function bytesOf({ html_content, text_content, attachments }: Expanding): number {
  const attached = attachments.reduce((sum, { content }) => sum + content.length, 0);
  return (html_content?.length ?? 0) + (text_content?.length ?? 0) + attached;
}

/**
 * What the delivery process has to know of campaigns: for every batch of leased messages whether their campaign still
 * goes on, whether its sender is still verified, whether each recipient may still be written to, and what each mail
 * says. Three statements a batch, however many messages; content is compiled once for each campaign and kept.
 */

import { encodedAttachment } from "#delivery/compose/assemble.ts";
import type { LeasedMessage } from "#delivery/message/message.ts";
import type { Decision, PresendCheck } from "#delivery/message/presend-check.ts";
import { maySendAsEach } from "#identity/may-send-as.ts";
import { ownReturnPathHost } from "#identity/return-path.ts";
import { domainOf } from "#mail/address.ts";
import type { Attachment } from "#mail/message/mime.ts";
import { AsyncCache } from "#platform/cache.ts";
import { pauseAndAnnounce } from "#sending/campaigns/campaign-events.ts";
import { autoPauseReason } from "#sending/campaigns/lifecycle/auto-pause.ts";
import type { PauseReason } from "#sending/campaigns/transitions-store.ts";
import {
  checkRecipients,
  type MailContext,
  type MailOrigin,
  type MessageInContext,
} from "./check-recipients.ts";
import type { CampaignMailDeps } from "./deps.ts";
import { type PreparedCampaign, prepareCampaign, UncompilableContent } from "./mail-content.ts";
import {
  findAttachments,
  findCampaignToSend,
  type LeasedCampaign,
  listLeasedCampaigns,
} from "./presend-store.ts";

/** Compiled campaigns kept in one worker: more than are sent at a time. */
const MOST_KEPT = 16;
/** Campaigns whose attachments are kept, up to 28 MB each; those of others are read again for every batch. */
const MOST_FILES_KEPT = 2;
const CONTENT_KEPT_MS = 10 * 60_000;
/** Whether a tracking domain or a return path still works is looked at again after this. */
const PLACE_KEPT_MS = 15_000;
/** When the messages of a campaign that has just been paused come back. */
const WAIT_SECONDS = 2;
/** The same where the content is at fault: what is left of one that was sent is not held by a pause. */
const FAULT_SECONDS = 300;

export function createCampaignMail(deps: CampaignMailDeps): PresendCheck {
  const { db } = deps;
  const contents = new AsyncCache<PreparedCampaign | null>({ ms: CONTENT_KEPT_MS, most: MOST_KEPT });
  const places = new AsyncCache<MailOrigin>({ ms: PLACE_KEPT_MS, most: MOST_KEPT });
  const prepared = ({ workspace_id, id }: LeasedCampaign) =>
    contents.get(id, async () => {
      const campaign = await findCampaignToSend(db, workspace_id, id);
      return campaign === undefined ? null : prepareCampaign(db, campaign);
    });
  const files = new AsyncCache<readonly Attachment[]>({ ms: CONTENT_KEPT_MS, most: MOST_FILES_KEPT });
  const filesOf = async ({ campaign: { workspace_id, id, has_attachments } }: PreparedCampaign) =>
    has_attachments
      ? files.get(id, async () => (await findAttachments(db, workspace_id, id)).map(encodedAttachment))
      : [];
  const placeOf = ({ campaign }: PreparedCampaign) =>
    places.get(campaign.id, async () => ({
      base: await deps.linkBase(campaign.workspace_id, campaign.url_domain_id),
      returnPathHost:
        campaign.sender_email === null
          ? null
          : await ownReturnPathHost(db, campaign.workspace_id, domainOf(campaign.sender_email)),
    }));

  /** What the mail of one campaign is written with, or why it is not written now. */
  const outfitOf = async (standing: LeasedCampaign): Promise<MailContext | Decision> => {
    const ready = isGoing(standing) ? await prepared(standing) : null;
    if (ready === null) return findingOf(standing);
    return { ready, audience: standing, place: await placeOf(ready), attachments: await filesOf(ready) };
  };

  /** One whose content is at fault stops, and makes nobody else wait. */
  const outfitOrStop = (standing: LeasedCampaign) =>
    outfitOf(standing).catch(async (fault: unknown): Promise<Decision> => {
      if (!(fault instanceof UncompilableContent)) throw fault;
      await stop(deps, standing, "content_invalid");
      return { kind: "requeue", seconds: FAULT_SECONDS };
    });

  return async (messages) => {
    const findings = new Map<string, Decision>();
    const going: MessageInContext[] = [];
    const standings = await standingsOf(deps, messages);
    const outfits = new Map<string, MailContext | Decision>();
    for (const [id, standing] of standings) outfits.set(id, await outfitOrStop(standing));
    for (const message of messages) {
      const outfit = outfits.get(message.origin_id ?? "") ?? findingOf(undefined);
      if ("kind" in outfit) findings.set(message.message_id, outfit);
      else going.push({ message, outfit });
    }
    await checkRecipients(deps, "campaign", going, findings);
    return findings;
  };
}

/** What was sent goes on too, though it be deleted: its deferred messages are still tried. */
function isGoing({ status }: LeasedCampaign): boolean {
  return status === "sending" || status === "sent";
}

function findingOf(standing: LeasedCampaign | undefined): Decision {
  if (standing === undefined || standing.status === "cancelled") {
    const what = standing?.is_deleted === false ? "cancelled" : "deleted";
    return { kind: "end", status: "cancelled", detail: `The campaign was ${what}` };
  }
  return { kind: "requeue", seconds: WAIT_SECONDS };
}

/** By campaign id, with those paused that have to stop now. */
async function standingsOf(
  deps: CampaignMailDeps,
  messages: readonly LeasedMessage[],
): Promise<Map<string, LeasedCampaign>> {
  const asked = new Map(
    messages.flatMap(({ workspace_id: workspaceId, origin_id: id }) =>
      id === null ? [] : [[id, { workspaceId, id }]],
    ),
  );
  const { db, autoPause } = deps;
  const standings = await listLeasedCampaigns(db, [...asked.values()]);
  const senderOf = (standing: LeasedCampaign) => ({
    workspaceId: standing.workspace_id,
    address: standing.from_email,
    domain: domainOf(standing.from_email),
  });
  const maySend = await maySendAsEach(db, standings.map(senderOf));
  const judged = new Map<string, LeasedCampaign>();
  for (const standing of standings) {
    const reason: PauseReason | null = maySend(senderOf(standing))
      ? autoPauseReason(standing, autoPause)
      : "sender_not_verified";
    const isStopped = isGoing(standing) && reason !== null;
    judged.set(standing.id, isStopped ? { ...standing, status: "paused" } : standing);
    if (isStopped) await stop(deps, standing, reason);
  }
  return judged;
}

async function stop(
  { db, clock, log, onCampaignEvents }: CampaignMailDeps,
  { workspace_id: workspaceId, id }: LeasedCampaign,
  reason: PauseReason,
): Promise<void> {
  const order = { reason, now: clock.now(), onCampaignEvents };
  if (await db.transaction((tx) => pauseAndAnnounce(tx, workspaceId, id, order))) {
    log.warn({ campaign: id, reason }, "a campaign was paused by the service");
  }
}

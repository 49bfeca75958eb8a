/**
 * The pre-send check for messages of campaigns: whether the campaign is still sending, its sender still verified, it is
 * below the auto-pause limits, and each recipient may still get mail; and the content of each message. Three statements for
 * each batch of leased messages; content is compiled once for each campaign and cached.
 */

import { encodedAttachment } from "#delivery/compose/assemble-mime.ts";
import type { LeasedMessage } from "#delivery/message/message.ts";
import type { Decision, PresendCheck } from "#delivery/message/presend-decision.ts";
import { maySendAsEach } from "#identity/may-send-as.ts";
import { ownReturnPathHost } from "#identity/return-path-host.ts";
import { domainOf } from "#mail/address.ts";
import type { Attachment } from "#mail/message/compose-message.ts";
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

/** Compiled campaigns in the cache of one worker: more than are sent at a time. */
const MOST_KEPT = 16;
/** Campaigns whose attachments are cached, up to 28 MB each; those of others are read again for every batch. */
const MOST_FILES_KEPT = 2;
const CONTENT_KEPT_MS = 10 * 60_000;
/** Whether a tracking domain or a return path still works is checked again after this time. */
const MAIL_ORIGIN_KEPT_MS = 15_000;
/** Delay before messages of a paused campaign are checked again. */
const WAIT_SECONDS = 2;
/** The delay when the content cannot be compiled: a pause does not stop the rest of a campaign that is sent. */
const FAULT_SECONDS = 300;

export function createCampaignMail(deps: CampaignMailDeps): PresendCheck {
  const { db } = deps;
  const contents = new AsyncCache<PreparedCampaign | null>({ ms: CONTENT_KEPT_MS, most: MOST_KEPT });
  const mailOrigins = new AsyncCache<MailOrigin>({ ms: MAIL_ORIGIN_KEPT_MS, most: MOST_KEPT });
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
  const mailOriginOf = ({ campaign }: PreparedCampaign) =>
    mailOrigins.get(campaign.id, async () => ({
      base: await deps.linkBase(campaign.workspace_id, campaign.url_domain_id),
      returnPathHost:
        campaign.sender_email === null
          ? null
          : await ownReturnPathHost(db, campaign.workspace_id, domainOf(campaign.sender_email)),
    }));

  /** The context that all messages of one campaign share, or the decision for all of them. */
  const contextOf = async (standing: LeasedCampaign): Promise<MailContext | Decision> => {
    const ready = isSendable(standing) ? await prepared(standing) : null;
    if (ready === null) return decisionFor(standing);
    return {
      ready,
      audience: standing,
      mailOrigin: await mailOriginOf(ready),
      attachments: await filesOf(ready),
    };
  };

  /** Pauses a campaign whose content cannot be compiled, so that it does not delay the batch. */
  const contextOrPause = (standing: LeasedCampaign) =>
    contextOf(standing).catch(async (fault: unknown): Promise<Decision> => {
      if (!(fault instanceof UncompilableContent)) throw fault;
      await pause(deps, standing, "content_invalid");
      return { kind: "requeue", seconds: FAULT_SECONDS };
    });

  return async (messages) => {
    const decisions = new Map<string, Decision>();
    const toCheck: MessageInContext[] = [];
    const standings = await standingsOf(deps, messages);
    const contexts = new Map<string, MailContext | Decision>();
    for (const [id, standing] of standings) contexts.set(id, await contextOrPause(standing));
    for (const message of messages) {
      const context = contexts.get(message.origin_id ?? "") ?? decisionFor(undefined);
      if ("kind" in context) decisions.set(message.message_id, context);
      else toCheck.push({ message, context });
    }
    await checkRecipients(deps, "campaign", toCheck, decisions);
    return decisions;
  };
}

/** Whether its messages may be sent. Deferred messages of a sent campaign are still retried, even if it was deleted. */
function isSendable({ status }: LeasedCampaign): boolean {
  return status === "sending" || status === "sent";
}

/** The decision for all messages of a campaign that may not be sent; undefined: it no longer exists. */
function decisionFor(standing: LeasedCampaign | undefined): Decision {
  if (standing === undefined || standing.status === "cancelled") {
    const what = standing?.is_deleted === false ? "cancelled" : "deleted";
    return { kind: "end", status: "cancelled", detail: `The campaign was ${what}` };
  }
  return { kind: "requeue", seconds: WAIT_SECONDS };
}

/** The campaigns of the messages by id. Those without a verified sender, or beyond a limit, are paused first. */
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
  const checked = new Map<string, LeasedCampaign>();
  for (const standing of standings) {
    const reason: PauseReason | null = maySend(senderOf(standing))
      ? autoPauseReason(standing, autoPause)
      : "sender_not_verified";
    const isStopped = isSendable(standing) && reason !== null;
    checked.set(standing.id, isStopped ? { ...standing, status: "paused" } : standing);
    if (isStopped) await pause(deps, standing, reason);
  }
  return checked;
}

async function pause(
  { db, clock, log, onCampaignEvents }: CampaignMailDeps,
  { workspace_id: workspaceId, id }: LeasedCampaign,
  reason: PauseReason,
): Promise<void> {
  const order = { reason, now: clock.now(), onCampaignEvents };
  if (await db.transaction((tx) => pauseAndAnnounce(tx, workspaceId, id, order))) {
    log.warn({ campaign: id, reason }, "campaign paused automatically");
  }
}

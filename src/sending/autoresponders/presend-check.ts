/**
 * What the delivery process has to know of autoresponders, for every batch of leased messages: whether each still goes
 * on, whether its sender is still verified, whether the recipient may still be written to, and what the mail says. The
 * content goes the way of a campaign's; it is compiled once for each step and kept.
 */

import type { LeasedMessage } from "#delivery/message/message.ts";
import type { Decision, PresendCheck } from "#delivery/message/presend-check.ts";
import { maySendAsEach, type SenderQuestion } from "#identity/may-send-as.ts";
import { domainOf } from "#mail/address.ts";
import { AsyncCache } from "#platform/cache.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import { checkRecipients, type MailContext, type MessageInContext } from "#sending/mail/check-recipients.ts";
import type { CampaignMailDeps } from "#sending/mail/deps.ts";
import { type PreparedCampaign, prepareCampaign, UncompilableContent } from "#sending/mail/mail-content.ts";
import { findContentToSend, type LeasedAutoresponderMail, listLeasedMail } from "./presend-store.ts";
import { type DeactivationCause, deactivateAutoresponder, hasContent } from "./store.ts";

/** Steps compiled in one worker. */
const MOST_KEPT = 64;
const CONTENT_KEPT_MS = 60_000;
/** Whether a tracking domain still works is looked at again after this. */
const BASE_KEPT_MS = 15_000;
/** When the messages of one that has just been deactivated come back. */
const WAIT_SECONDS = 2;

export function createAutoresponderMail(deps: CampaignMailDeps): PresendCheck {
  const { db } = deps;
  const contents = new AsyncCache<PreparedCampaign | null>({ ms: CONTENT_KEPT_MS, most: MOST_KEPT });
  const bases = new AsyncCache<string>({ ms: BASE_KEPT_MS, most: MOST_KEPT });
  const baseOf = (id: WorkspaceId) => bases.get(id, () => deps.linkBase(id, null));
  const prepared = ({ workspace_id }: LeasedMessage, { content_id }: LeasedAutoresponderMail) =>
    contents.get(content_id, async () => {
      const content = await findContentToSend(db, workspace_id, content_id);
      return content === undefined ? null : prepareCampaign(db, content);
    });

  /** A step whose content is at fault stops its autoresponder; what waits with content that it no longer has is over. */
  const stop = async (
    standing: LeasedAutoresponderMail,
    { workspace_id }: LeasedMessage,
    fault: UncompilableContent,
  ) => {
    const { autoresponder_id: id, content_id: contentId } = standing;
    await deactivate(deps, workspace_id, id, { reason: "content_invalid", contentId });
    if (await hasContent(db, workspace_id, id, contentId)) return wait;
    return {
      kind: "end",
      status: "cancelled",
      detail: `The content cannot be rendered: ${fault.message}`,
    } as const satisfies Decision;
  };

  /** What the mail of one step is written with, or why it is not written now. */
  const outfitOf = async (
    standing: LeasedAutoresponderMail,
    message: LeasedMessage,
  ): Promise<MailContext | Decision> => {
    try {
      const ready = await prepared(message, standing);
      if (ready === null) return deleted;
      return {
        ready,
        audience: { audience_list_id: standing.mailing_list_id, segment_id: null },
        place: { base: await baseOf(message.workspace_id), returnPathHost: null },
        attachments: [],
      };
    } catch (fault) {
      if (!(fault instanceof UncompilableContent)) throw fault;
      return stop(standing, message, fault);
    }
  };

  return async (messages) => {
    const findings = new Map<string, Decision>();
    const standings = new Map(
      (await listLeasedMail(db, messages)).map((standing) => [standing.message_id, standing]),
    );
    const senderFaultOf = await judgeSenders(deps, messages, standings);
    const going: MessageInContext[] = [];
    /** By content: finding out may take long, and once. */
    const outfits = new Map<string, MailContext | Decision>();
    for (const message of messages) {
      const standing = standings.get(message.message_id);
      const obstacle = obstacleOf(standing) ?? senderFaultOf(message);
      if (standing === undefined || obstacle !== null) {
        findings.set(message.message_id, obstacle ?? deleted);
        continue;
      }
      const outfit = outfits.get(standing.content_id) ?? (await outfitOf(standing, message));
      outfits.set(standing.content_id, outfit);
      if ("kind" in outfit) findings.set(message.message_id, outfit);
      else going.push({ message, outfit });
    }
    await checkRecipients(deps, "autoresponder", going, findings);
    return findings;
  };
}

const wait: Decision = { kind: "requeue", seconds: WAIT_SECONDS };
const deleted: Decision = { kind: "end", status: "cancelled", detail: "The autoresponder was deleted" };

function obstacleOf(standing: LeasedAutoresponderMail | undefined): Decision | null {
  if (standing === undefined || standing.status === null) return deleted;
  if (standing.status === "inactive") return wait;
  if (standing.has_stayed) return null;
  return {
    kind: "end",
    status: "suppressed",
    detail: "The subscriber left the list meanwhile, and came back",
  };
}

/**
 * What keeps a message from being sent, as to its sender. The message keeps the sender it was made with: when the
 * autoresponder has another by now, who is verified, the message alone is over; otherwise the autoresponder is deactivated.
 */
async function judgeSenders(
  deps: CampaignMailDeps,
  messages: readonly LeasedMessage[],
  standings: ReadonlyMap<string, LeasedAutoresponderMail>,
): Promise<(message: LeasedMessage) => Decision | null> {
  const presentOf = ({ message_id }: LeasedMessage) => standings.get(message_id)?.from_email ?? null;
  const maySend = await maySendAsEach(
    deps.db,
    messages.flatMap((message) => {
      const present = presentOf(message);
      return [message.from_email, ...(present === null ? [] : [present])].map((from) =>
        senderOf(message, from),
      );
    }),
  );
  const maySendAs = (message: LeasedMessage, from: string | null) =>
    from !== null && maySend(senderOf(message, from));
  const stopped = new Map(
    messages
      .filter((message) => !maySendAs(message, message.from_email) && !maySendAs(message, presentOf(message)))
      .map((message) => [message.origin_id, message]),
  );
  for (const [id, message] of stopped) {
    const fromEmail = presentOf(message);
    if (id === null || fromEmail === null) continue;
    const cause = { reason: "sender_not_verified", fromEmail } as const;
    await deactivate(deps, message.workspace_id, id, cause);
  }
  return (message) => {
    if (maySendAs(message, message.from_email)) return null;
    const present = presentOf(message);
    if (!maySendAs(message, present)) return wait;
    return {
      kind: "end",
      status: "cancelled",
      detail: `The sender ${message.from_email} is not verified any more; the autoresponder now writes as ${present}`,
    };
  };
}

async function deactivate(
  { db, clock, log }: CampaignMailDeps,
  workspaceId: WorkspaceId,
  id: string,
  cause: DeactivationCause,
): Promise<void> {
  if (!(await deactivateAutoresponder(db, workspaceId, id, cause, clock.now()))) return;
  log.warn({ autoresponder: id, reason: cause.reason }, "an autoresponder was deactivated by the service");
}

function senderOf({ workspace_id: workspaceId }: LeasedMessage, address: string): SenderQuestion {
  return { workspaceId, address, domain: domainOf(address) };
}

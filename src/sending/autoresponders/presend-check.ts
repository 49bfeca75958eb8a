/**
 * The pre-send check for messages of autoresponders: whether the autoresponder is still active, its sender still verified,
 * and the recipient not suppressed; and the content of the mail. The content is compiled as that of a campaign, once for
 * each step, and cached.
 */

import type { LeasedMessage } from "#delivery/message/message.ts";
import type { Decision, PresendCheck } from "#delivery/message/presend-decision.ts";
import { maySendAsEach, type SenderQuestion } from "#identity/may-send-as.ts";
import { domainOf } from "#mail/address.ts";
import { AsyncCache } from "#platform/cache.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import { checkRecipients, type MailContext, type MessageInContext } from "#sending/mail/check-recipients.ts";
import type { CampaignMailDeps } from "#sending/mail/deps.ts";
import { type PreparedCampaign, prepareCampaign, UncompilableContent } from "#sending/mail/mail-content.ts";
import { findContentToSend, type LeasedAutoresponderMail, listLeasedMail } from "./presend-store.ts";
import { type DeactivationCause, deactivateAutoresponder, hasContent } from "./store.ts";

/** Compiled steps in the cache of one worker. */
const MOST_KEPT = 64;
const CONTENT_KEPT_MS = 60_000;
/** Whether the tracking domain still works is checked again after this time. */
const BASE_KEPT_MS = 15_000;
/** Delay before messages of an inactive autoresponder are checked again. */
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

  /** Deactivates the autoresponder if its step still has the faulty content; otherwise only the message is cancelled. */
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

  /** The context that all messages of one step share, or the decision for all of them. */
  const contextOf = async (
    standing: LeasedAutoresponderMail,
    message: LeasedMessage,
  ): Promise<MailContext | Decision> => {
    try {
      const ready = await prepared(message, standing);
      if (ready === null) return deleted;
      return {
        ready,
        audience: { audience_list_id: standing.mailing_list_id, segment_id: null },
        mailOrigin: { base: await baseOf(message.workspace_id), returnPathHost: null },
        attachments: [],
      };
    } catch (fault) {
      if (!(fault instanceof UncompilableContent)) throw fault;
      return stop(standing, message, fault);
    }
  };

  return async (messages) => {
    const decisions = new Map<string, Decision>();
    const standings = new Map(
      (await listLeasedMail(db, messages)).map((standing) => [standing.message_id, standing]),
    );
    const senderDecisionOf = await checkSenders(deps, messages, standings);
    const toCheck: MessageInContext[] = [];
    /** Cached by content id, because preparing a content may take long. */
    const contexts = new Map<string, MailContext | Decision>();
    for (const message of messages) {
      const standing = standings.get(message.message_id);
      const decision = stoppedBy(standing) ?? senderDecisionOf(message);
      if (standing === undefined || decision !== null) {
        decisions.set(message.message_id, decision ?? deleted);
        continue;
      }
      const context = contexts.get(standing.content_id) ?? (await contextOf(standing, message));
      contexts.set(standing.content_id, context);
      if ("kind" in context) decisions.set(message.message_id, context);
      else toCheck.push({ message, context });
    }
    await checkRecipients(deps, "autoresponder", toCheck, decisions);
    return decisions;
  };
}

const wait: Decision = { kind: "requeue", seconds: WAIT_SECONDS };
const deleted: Decision = { kind: "end", status: "cancelled", detail: "The autoresponder was deleted" };

/** Null when the autoresponder may send the message. */
function stoppedBy(standing: LeasedAutoresponderMail | undefined): Decision | null {
  if (standing === undefined || standing.status === null) return deleted;
  if (standing.status === "inactive") return wait;
  if (standing.has_stayed) return null;
  return {
    kind: "end",
    status: "suppressed",
    detail: "The subscriber left the list and joined again since the series began",
  };
}

/**
 * The decision for messages whose sender is no longer verified; null for the others. A message keeps the sender it was made
 * with. If the autoresponder now has another sender that is verified, only the message is cancelled; otherwise the
 * autoresponder is deactivated.
 */
async function checkSenders(
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
      detail: `The sender ${message.from_email} is no longer verified; the autoresponder now sends as ${present}`,
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
  log.warn({ autoresponder: id, reason: cause.reason }, "autoresponder deactivated automatically");
}

function senderOf({ workspace_id: workspaceId }: LeasedMessage, address: string): SenderQuestion {
  return { workspaceId, address, domain: domainOf(address) };
}

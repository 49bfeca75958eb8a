/** What is announced of messages: outcomes, opens and clicks. The service's own mail is nobody's business. */
import type { OnEngaged } from "../messages/engagement.ts";
import type { MovedMessage, OnMoved } from "../messages/outcome.ts";
import { announce, listenedTo } from "./announce.ts";
import type { EventType, WebhookEvent } from "./catalogue.ts";
import { findMessageFacts, type MessageFacts } from "./message-store.ts";

type OutcomeEvent = Extract<EventType, `message.${MovedMessage["status"]}`>;

const outcomeEvents: Partial<Record<MovedMessage["status"], OutcomeEvent>> = {
  delivered: "message.delivered",
  deferred: "message.deferred",
  bounced: "message.bounced",
  failed: "message.failed",
  complained: "message.complained",
  suppressed: "message.suppressed",
};

/** For the door of outcomes. */
export const announceMoved: OnMoved = async (tx, moved) => {
  const happenings = moved.flatMap((message) => {
    const type = message.source === "platform" ? undefined : outcomeEvents[message.status];
    return type === undefined ? [] : [{ ...message, type, happened: message.status }];
  });
  const wanted = await listenedTo(tx, happenings);
  if (wanted.length === 0) return;
  const facts = await findMessageFacts(tx, wanted);
  await announce(
    tx,
    wanted.flatMap((message) => {
      const found = facts.get(message.messageId);
      return found === undefined ? [] : [outcomeEventOf(message, found)];
    }),
  );
};

function outcomeEventOf(
  { workspaceId, time, classification, complaint, type }: MovedMessage & { readonly type: OutcomeEvent },
  facts: MessageFacts,
): WebhookEvent {
  const { next_attempt_at, ...data } = facts;
  if (type === "message.deferred") return { workspaceId, time, type, data: { ...data, next_attempt_at } };
  if (type === "message.bounced") {
    const { type: bounce_type = "soft", category = "Undetermined" } = classification ?? {};
    return { workspaceId, time, type, data: { ...data, bounce_type, category } };
  }
  if (type === "message.complained") {
    const { feedbackType: feedback_type = "abuse", provider = null } = complaint ?? {};
    return { workspaceId, time, type, data: { ...data, feedback_type, provider } };
  }
  return { workspaceId, time, type, data };
}

/** For the door of engagements. */
export const announceEngaged: OnEngaged = async (tx, engaged) => {
  const happenings = engaged.map((one) => ({
    ...one,
    type: one.kind === "opened" ? ("message.opened" as const) : ("message.clicked" as const),
    happened: one.kind,
  }));
  const wanted = await listenedTo(tx, happenings);
  if (wanted.length === 0) return;
  const facts = await findMessageFacts(tx, wanted);
  await announce(
    tx,
    wanted.flatMap(({ workspaceId, messageId, type, time, isMachine, times, target }): WebhookEvent[] => {
      const found = facts.get(messageId);
      if (found === undefined || found.source === "platform") return [];
      const { message_id, to, from_email, source, origin_id, origin_name } = found;
      const message = { message_id, to, from_email, source, origin_id, origin_name };
      const data = { ...message, is_machine: isMachine, times };
      return type === "message.opened"
        ? [{ workspaceId, time, type, data }]
        : [{ workspaceId, time, type, data: { ...data, url: target } }];
    }),
  );
};

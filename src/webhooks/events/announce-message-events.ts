/** Announces outcomes, opens and clicks of messages. The service's own mail (source `platform`) has no events. */

import { eventFieldsOf } from "#messages/message/email-details.ts";
import type { MovedMessage, OnMoved } from "#messages/message/outcome.ts";
import type { OnEngaged } from "#messages/record-engagement.ts";
import type { EventType, WebhookEvent } from "#webhooks/event-catalogue.ts";
import { findMessageFields } from "#webhooks/message-fields-store.ts";
import { announceFiltered, filterListened } from "./announce.ts";

type OutcomeEvent = Extract<EventType, `message.${MovedMessage["status"]}`>;

const outcomeEvents: Partial<Record<MovedMessage["status"], OutcomeEvent>> = {
  delivered: "message.delivered",
  deferred: "message.deferred",
  bounced: "message.bounced",
  failed: "message.failed",
  complained: "message.complained",
  suppressed: "message.suppressed",
};

/** Called by messages/record-outcomes.ts. */
export const announceMoved: OnMoved = async (tx, moved) => {
  const events = moved.flatMap((message) => {
    const type = message.source === "platform" ? undefined : outcomeEvents[message.status];
    return type === undefined ? [] : [{ ...message, type }];
  });
  await announceFiltered(tx, (await filterListened(tx, events)).map(outcomeEventOf));
};

function outcomeEventOf(message: MovedMessage & { readonly type: OutcomeEvent }): WebhookEvent {
  const { workspaceId, time, classification, complaint, type } = message;
  const data = {
    message_id: message.messageId,
    to: `${message.localpart}@${message.domain}`,
    from_email: message.fromEmail,
    source: message.source,
    origin_id: message.originId,
    origin_name: message.originName,
    ...eventFieldsOf(message.messageId, message.emailDetails),
    attempts: message.attempts,
    detail: message.detail,
    smtp_code: message.code,
    enhanced_code: message.enhancedCode,
  };
  if (type === "message.deferred") {
    return { workspaceId, time, type, data: { ...data, next_attempt_at: message.nextAttemptAt } };
  }
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

/** Called by messages/record-engagement.ts. */
export const announceEngaged: OnEngaged = async (tx, engaged) => {
  const events = engaged.map((one) => ({
    ...one,
    type: one.kind === "opened" ? ("message.opened" as const) : ("message.clicked" as const),
  }));
  const wanted = await filterListened(tx, events);
  if (wanted.length === 0) return;
  const fieldsOf = await findMessageFields(tx, wanted);
  await announceFiltered(
    tx,
    wanted.flatMap(({ workspaceId, messageId, type, time, isMachine, times, target }): WebhookEvent[] => {
      const fields = fieldsOf.get(messageId);
      if (fields === undefined || fields.source === "platform") return [];
      const data = { ...fields, is_machine: isMachine, times };
      return type === "message.opened"
        ? [{ workspaceId, time, type, data }]
        : [{ workspaceId, time, type, data: { ...data, url: target } }];
    }),
  );
};

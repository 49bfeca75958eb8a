/**
 * The other wings' reactions to an outcome (messages/record-outcomes.ts), an open or click, and an unsubscription.
 * Every process uses the same functions, because the order of their steps is the order of the row locks.
 */
import {
  setRecipientStatuses,
  suppressRecipients,
} from "#audience/suppression-lists/suppress-after-outcome.ts";
import { countSoftBounces } from "#inbound/soft-bounces/store.ts";
import { type MovedMessage, type OnMoved, suppressingAmong } from "#messages/message/outcome.ts";
import type { OnEngaged } from "#messages/record-engagement.ts";
import type { Clock } from "#platform/clock.ts";
import { refundUnsent } from "#sending/acceptance/refund-store.ts";
import { countEngaged } from "#sending/campaigns/counters/count-engagement.ts";
import { countMoved, countRecipients, holdDays } from "#sending/campaigns/counters/count-outcomes-store.ts";
import { countUnsubscribed } from "#sending/campaigns/counters/engagement-store.ts";
import type { OnResubscribed, OnUnsubscribed } from "#tracking/unsubscribe-and-undo.ts";
import { announceEngaged, announceMoved } from "#webhooks/events/announce-message-events.ts";
import { announceSubscriber } from "#webhooks/events/announce-non-message-events.ts";
import type { Count } from "./counters.ts";

/**
 * Soft bounces come first, because they determine which further recipients are unreachable. Then, in this order:
 * people, days of lists, memberships and their counters, counters of campaigns, meter entries (which take no lock), the
 * suppression lists, and at the end the outbox of webhooks, which is only appended to.
 *
 * @param count counts bounces and complaints for the metrics
 */
export function createReactions(clock: Clock, count: Count = () => {}): OnMoved {
  return async (tx, moved) => {
    const lost = [...suppressingAmong(moved), ...(await countSoftBounces(tx, moved))];
    const now = clock.now();
    await countRecipients(tx, moved, lost);
    await holdDays(tx, moved, lost, now);
    await setRecipientStatuses(tx, lost, now);
    await countMoved(tx, moved);
    await refundUnsent(tx, moved, now);
    await suppressRecipients(tx, lost);
    await announceMoved(tx, moved);
    countFailures(moved, count);
  };
}

function countFailures(moved: readonly MovedMessage[], count: Count): void {
  for (const { status, from, classification } of moved) {
    if (status === "complained") count({ name: "posthaste_complaints_total", labels: {} });
    // A bounce that is reclassified is counted already.
    if (status === "bounced" && from !== "bounced" && classification !== null)
      count({ name: "posthaste_bounces_total", labels: { type: classification.type } });
  }
}

export function createEngagementReactions(clock: Clock): OnEngaged {
  return async (tx, engaged) => {
    await countEngaged(tx, engaged, clock.now());
    await announceEngaged(tx, engaged);
  };
}

export const onUnsubscribed: OnUnsubscribed = async (tx, departure, now) => {
  const { workspaceId, messageId, subscriberId, mailingListId, address: email } = departure;
  const news = { workspaceId, kind: "unsubscribed", subscriberId, mailingListId, email } as const;
  await announceSubscriber(tx, { ...news, status: "unsubscribed", time: now });
  return (
    (await countUnsubscribed(tx, "campaign", workspaceId, messageId, now)) ||
    countUnsubscribed(tx, "autoresponder", workspaceId, messageId, now)
  );
};

export const onResubscribed: OnResubscribed = (tx, departure, now) => {
  const { workspaceId, subscriberId, mailingListId, address: email } = departure;
  const news = { workspaceId, kind: "updated", subscriberId, mailingListId, email } as const;
  return announceSubscriber(tx, { ...news, status: "active", time: now });
};

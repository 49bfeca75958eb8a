/**
 * What follows in the rest of the house from an outcome (messages/record-outcomes.ts), an open or a click, and from unsubscribing: one
 * function each for every process that hears of it, for the order of its steps is the order in which everybody locks.
 */
import { markLost, suppressLost } from "#audience/suppression-lists/suppress-after-outcome.ts";
import { countSoftBounces } from "#inbound/soft-bounces/store.ts";
import { lostAmong, type OnMoved } from "#messages/message/outcome.ts";
import type { OnEngaged } from "#messages/record-engagement.ts";
import type { Clock } from "#platform/clock.ts";
import { giveBack } from "#sending/acceptance/refund-unsent.ts";
import { countUnsubscribed as countUnsubscribedAutoresponder } from "#sending/autoresponders/mail-store.ts";
import { countMoved, countRecipients, holdDays } from "#sending/campaigns/counters/counters-store.ts";
import { countEngaged } from "#sending/campaigns/counters/engagement.ts";
import { countUnsubscribed } from "#sending/campaigns/counters/engagement-store.ts";
import type { OnReturned, OnUnsubscribed } from "#tracking/unsubscribe.ts";
import { announceSubscriber } from "#webhooks/events/events.ts";
import { announceEngaged, announceMoved } from "#webhooks/events/message-events.ts";

/**
 * Soft bounces first, which say who is lost besides; then people, then days of lists, memberships and their counters, the
 * counters of campaigns, notes on the meter (which wait for nobody), the lists of bounces and complaints, and at the end
 * the outbox of webhooks, which only grows.
 */
export function createReactions(clock: Clock): OnMoved {
  return async (tx, moved) => {
    const lost = [...lostAmong(moved), ...(await countSoftBounces(tx, moved))];
    const now = clock.now();
    await countRecipients(tx, moved, lost);
    await holdDays(tx, moved, lost, now);
    await markLost(tx, lost, now);
    await countMoved(tx, moved);
    await giveBack(tx, moved, now);
    await suppressLost(tx, lost);
    await announceMoved(tx, moved);
  };
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
    (await countUnsubscribed(tx, workspaceId, messageId, now)) ||
    countUnsubscribedAutoresponder(tx, workspaceId, messageId, now)
  );
};

export const onReturned: OnReturned = (tx, departure, now) => {
  const { workspaceId, subscriberId, mailingListId, address: email } = departure;
  const news = { workspaceId, kind: "updated", subscriberId, mailingListId, email } as const;
  return announceSubscriber(tx, { ...news, status: "active", time: now });
};

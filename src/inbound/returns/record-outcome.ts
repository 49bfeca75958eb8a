import { removeQueueEntries } from "#delivery/queue/queue-store.ts";
import type { OnMoved, Outcome } from "#messages/message/outcome.ts";
import { recordOutcomes } from "#messages/record-outcomes.ts";
import type { Queryable } from "#platform/database/pool.ts";
import { lockSentMessage } from "./sent-message-store.ts";

/**
 * Records an outcome that an inbound mail reports, and removes the message from the queue: the mail proves that the message
 * was sent, even if the receiver's last reply was lost.
 * @returns whether the state of the message changed
 */
export async function recordOutcome(tx: Queryable, outcome: Outcome, onMoved: OnMoved): Promise<boolean> {
  // The queue before the log: delivery workers lock them in this order.
  await removeQueueEntries(tx, [outcome]);
  await lockSentMessage(tx, outcome.workspaceId, outcome.messageId);
  let isNew = false;
  await recordOutcomes(tx, [outcome], async (inside, moved) => {
    isNew = true;
    await onMoved(inside, moved);
  });
  return isNew;
}

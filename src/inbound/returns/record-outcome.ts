/**
 * Records what a mail says about one message of ours (messages/record-outcomes.ts). It shows that the message was sent,
 * even where the queue does not know yet because the receiver's last reply was lost: it must not be sent again.
 */
import { removeQueueEntries } from "#delivery/queue/queue-store.ts";
import type { OnMoved, Outcome } from "#messages/message/outcome.ts";
import { recordOutcomes } from "#messages/record-outcomes.ts";
import type { Queryable } from "#platform/database/pool.ts";
import { lockSentMessage } from "./sent-message-store.ts";

/** Says whether it moved the message: the second time it does not. */
export async function recordOutcome(tx: Queryable, outcome: Outcome, onMoved: OnMoved): Promise<boolean> {
  // The queue before the log, as workers that settle lock them.
  await removeQueueEntries(tx, [outcome]);
  await lockSentMessage(tx, outcome.workspaceId, outcome.messageId);
  let isNew = false;
  await recordOutcomes(tx, [outcome], async (inside, moved) => {
    isNew = true;
    await onMoved(inside, moved);
  });
  return isNew;
}

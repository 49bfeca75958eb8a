/** Cancels what waited when sending was held, instead of sending it after the release. */
import { lockWaitingBefore, type QueueKey, removeQueueEntries } from "#delivery/queue/queue-store.ts";
import { cancellation, type OnMoved } from "#messages/message/outcome.ts";
import { recordOutcomes } from "#messages/record-outcomes.ts";
import type { Database } from "#platform/database/pool.ts";
import { asWorkspaceId, nilId } from "#platform/ids.ts";

/** Messages in one transaction: workers and acceptance wait for none of them for long. */
const AT_ONCE = 1_000;
const DISCARDED = "Discarded by the operator: it waited when sending was held";

/**
 * Ends the waiting messages that were accepted before `heldAt` as `cancelled`, in transactions of a thousand. The statement of
 * outcomes moves each message once, so that counters and refunds are right however often this is interrupted and repeated.
 *
 * @param onMoved reacts to the outcomes (processes/reactions.ts)
 * @returns how many messages were cancelled
 */
export async function discardWaiting(
  db: Database,
  heldAt: Date,
  onMoved: OnMoved,
  size = AT_ONCE,
): Promise<number> {
  let count = 0;
  let after: QueueKey | undefined = { workspaceId: asWorkspaceId(nilId), messageId: nilId };
  while (after !== undefined) {
    const from: QueueKey = after;
    const cancelled = await db.transaction(
      async (tx) => {
        const waiting = await lockWaitingBefore(tx, heldAt, from, size);
        await removeQueueEntries(tx, waiting);
        const ended = waiting.map((one) => cancellation(one, new Date(), DISCARDED));
        await recordOutcomes(tx, ended, onMoved);
        return waiting;
      },
      { mayRepeat: true },
    );
    count += cancelled.length;
    after = cancelled.at(-1);
  }
  return count;
}

/** Cancels what waited when sending was held, instead of sending it after the release. */
import {
  countLeftBefore,
  type LeftInQueue,
  lockWaitingBefore,
  type QueueKey,
  removeQueueEntries,
} from "#delivery/queue/queue-store.ts";
import { cancellation, type OnMoved } from "#messages/message/outcome.ts";
import { recordOutcomes } from "#messages/record-outcomes.ts";
import type { Database } from "#platform/database/pool.ts";
import { asWorkspaceId, nilId } from "#platform/ids.ts";
import { lockHold, type SendingHold } from "./store.ts";

/** Messages in one transaction: workers and acceptance wait for none of them for long. */
const AT_ONCE = 1_000;
const DISCARDED = "Discarded by the operator: it waited when sending was held";

interface Discarded extends LeftInQueue {
  readonly cancelled: number;
}

/**
 * Ends the waiting messages that were accepted and due before the hold as `cancelled`, in transactions of a thousand. The
 * statement of outcomes moves each message once, so that counters and refunds are right however often this is interrupted
 * and repeated. A message whose first attempt was not yet due is kept: a lost installation with the same queue cannot have
 * sent it.
 *
 * @param onMoved reacts to the outcomes (processes/reactions.ts)
 * @throws Error if the hold ends meanwhile: a worker may send what is left
 * @returns how many messages were cancelled, and how many of those accepted before the hold were not
 */
export async function discardWaiting(
  db: Database,
  hold: SendingHold,
  onMoved: OnMoved,
  size = AT_ONCE,
): Promise<Discarded> {
  let cancelled = 0;
  let after: QueueKey | undefined = { workspaceId: asWorkspaceId(nilId), messageId: nilId };
  while (after !== undefined) {
    const from: QueueKey = after;
    const part = await db.transaction(
      async (tx) => {
        let count = 0;
        await lockHold(tx, hold);
        const waiting = await lockWaitingBefore(tx, hold.held_at, from, size);
        await removeQueueEntries(tx, waiting);
        const ended = waiting.map((one) => cancellation(one, new Date(), DISCARDED));
        await recordOutcomes(tx, ended, (within, moved) => {
          count = moved.length;
          return onMoved(within, moved);
        });
        return { count, last: waiting.at(-1) };
      },
      { mayRepeat: true },
    );
    cancelled += part.count;
    after = part.last;
  }
  return { cancelled, ...(await countLeftBefore(db, hold.held_at)) };
}

/** Cancels the messages of a mail that still wait in the queue. */
import { lockAllInQueue, removeQueueEntries } from "#delivery/queue/queue-store.ts";
import { emailIdOf } from "#messages/message/email-id.ts";
import { cancellation, type OnMoved } from "#messages/message/outcome.ts";
import { recordOutcomes } from "#messages/record-outcomes.ts";
import { listMessagesOfEmail } from "#messages/store.ts";
import type { Clock } from "#platform/clock.ts";
import type { Database } from "#platform/database/pool.ts";
import { ApiError, notFound } from "#platform/errors.ts";
import type { WorkspaceId } from "#platform/ids.ts";

/** @throws ApiError NOT_FOUND, or CONFLICT if no message of the mail waits */
export function cancelEmail(
  { db, clock, onMoved }: { readonly db: Database; readonly clock: Clock; readonly onMoved: OnMoved },
  workspaceId: WorkspaceId,
  emailId: string,
) {
  return db.transaction(async (tx) => {
    const messages = await listMessagesOfEmail(tx, workspaceId, emailId);
    if (messages.length === 0 || emailId !== emailIdOf(emailId)) throw notFound("Email");
    const ids = messages.map(({ id }) => id);
    const waiting = await lockAllInQueue(tx, workspaceId, ids);
    if (waiting.length === 0) {
      throw new ApiError("CONFLICT", "No message of the email waits: each is being sent, or has ended");
    }
    const keys = waiting.map((messageId) => ({ workspaceId, messageId }));
    await removeQueueEntries(tx, keys);
    const now = clock.now();
    await recordOutcomes(
      tx,
      keys.map((key) => cancellation(key, now, "Cancelled on request")),
      onMoved,
    );
    return { id: emailId, cancelled: waiting, not_cancelled: ids.filter((id) => !waiting.includes(id)) };
  });
}

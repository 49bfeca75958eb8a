/** One waiting message: try it now, or cancel it. */
import { Type } from "typebox";
import { lockInQueue, makeDue, type QueuePlace, removeQueueEntries } from "#delivery/queue/queue-store.ts";
import { cancellation, type OnMoved } from "#messages/message/outcome.ts";
import { recordOutcomes } from "#messages/record-outcomes.ts";
import { findMessage, type MessageRow, updateNextAttempt } from "#messages/store.ts";
import type { Clock } from "#platform/clock.ts";
import type { Database, Queryable } from "#platform/database/pool.ts";
import { ApiError, required } from "#platform/errors.ts";
import { type Endpoint, endpoint, need, type Resource } from "#platform/http/endpoint.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import { Id, Timestamp } from "#platform/shapes.ts";
import { isHeldByOrigin } from "#sending/mail/presend-store.ts";

const messages: Resource = { name: "messages", label: "Messages in the queue", group: "Sending" };

const RetriedMessage = Type.Object(
  {
    id: Id,
    attempts: Type.Integer({ description: "Delivery attempts made so far; they still count." }),
    next_attempt_at: Type.Unsafe<Date>({
      ...Timestamp,
      description: "From when on the message is due: now.",
    }),
  },
  { $id: "RetriedMessage" },
);

const CancelledMessage = Type.Object(
  {
    id: Id,
    status: Type.Literal("cancelled", { description: "The message is not sent any more." }),
  },
  { $id: "CancelledMessage" },
);

interface Dependencies {
  readonly db: Database;
  readonly clock: Clock;
  readonly notifyWorkers: (db: Queryable) => Promise<unknown>;
  readonly onMoved: OnMoved;
}

export function waitingMessageEndpoints({ db, clock, notifyWorkers, onMoved }: Dependencies): Endpoint[] {
  const needs = need(messages, "send");
  return [
    endpoint({
      id: "retryMessage",
      method: "POST",
      path: "/messages/{id}/retry",
      summary: "Try a waiting message now, without waiting for its next attempt",
      description:
        "The attempt counts like any other. 409 while a worker is sending the message, after it has ended, or while its campaign is paused.",
      needs,
      answer: RetriedMessage,
      errors: ["CONFLICT"],
      message: "The message is due now",
      async handle({ caller: { workspaceId }, params: { id } }) {
        const now = clock.now();
        const retried = await db.transaction(async (tx) => {
          const message = await requireWaiting(tx, workspaceId, id);
          if (await isHeldByOrigin(tx, workspaceId, message)) {
            const what = message.source === "campaign" ? "campaign is paused" : "autoresponder is inactive";
            throw new ApiError("CONFLICT", `The message waits because its ${what}`);
          }
          await makeDue(tx, workspaceId, id);
          await updateNextAttempt(tx, workspaceId, id, now);
          return { id, attempts: message.attempts, next_attempt_at: now };
        });
        await notifyWorkers(db);
        return retried;
      },
    }),
    endpoint({
      id: "cancelMessage",
      method: "POST",
      path: "/messages/{id}/cancel",
      summary: "Cancel a waiting message, so that it is not sent any more",
      description:
        "The message ends as `cancelled`, and its price is refunded if no mail server was asked to take it. No webhook announces this. 409 while a worker is sending it, or after it has ended.",
      needs,
      outward: "nothing",
      answer: CancelledMessage,
      errors: ["CONFLICT"],
      message: "The message is cancelled",
      handle: ({ caller: { workspaceId }, params: { id } }) =>
        db.transaction(async (tx) => {
          await requireWaiting(tx, workspaceId, id);
          await removeQueueEntries(tx, [{ workspaceId, messageId: id }]);
          const outcome = cancellation({ workspaceId, messageId: id }, clock.now(), "Cancelled on request");
          await recordOutcomes(tx, [outcome], onMoved);
          return { id, status: "cancelled" as const };
        }),
    }),
  ];
}

/**
 * Locks a message that waits in the queue.
 * @throws ApiError NOT_FOUND, or CONFLICT with the reason if it does not wait
 */
async function requireWaiting(tx: Queryable, workspaceId: WorkspaceId, id: string): Promise<MessageRow> {
  const place = await lockInQueue(tx, workspaceId, id);
  const message = required(await findMessage(tx, workspaceId, id), "Message");
  if (place !== "waiting") throw new ApiError("CONFLICT", reasonFor(place, message));
  return message;
}

function reasonFor(place: Exclude<QueuePlace, "waiting">, { status }: MessageRow): string {
  if (place === "leased") return "The message is being sent: ask again when the attempt has ended";
  if (status === "deferred") return "The message was handed over and awaits its delivery receipt";
  return `The message does not wait any more: it is ${status}`;
}

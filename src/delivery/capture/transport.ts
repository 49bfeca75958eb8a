/**
 * Capture mode: nothing leaves the machine. A message is composed and signed as it would be for the world, and put
 * into the local inbox, unless its recipient asks for a refusal (replies.ts).
 */

import { type ComposeOptions, prepare } from "#delivery/compose/compose.ts";
import type { ReadyMessage } from "#delivery/message/message.ts";
import type { Transport, TransportEvents } from "#delivery/message/transport.ts";
import type { Database } from "#platform/database/pool.ts";
import type { TransactionResult } from "#smtp-client/outcome.ts";
import { captureReply } from "./replies.ts";
import { insertCaptured, type NewCaptured } from "./store.ts";

const BATCH = 100;
/** When a batch comes back that the inbox could not take. */
const TRY_AGAIN_SECONDS = 5;

interface Captured {
  readonly message: ReadyMessage;
  readonly row: NewCaptured;
  readonly result: TransactionResult;
}

export function createCaptureTransport(
  db: Database,
  composing: ComposeOptions,
  events: TransportEvents,
): Transport {
  const waiting: ReadyMessage[] = [];
  let isWorking = false;
  const release = (message: ReadyMessage) => events.onEnd(message, { kind: "release" });

  const captureBatch = async (batch: ReadyMessage[]) => {
    const composed = await Promise.all(batch.map((message) => captured(message)));
    const kept = composed.filter((one) => one !== undefined);
    try {
      await insertCaptured(
        db,
        kept.filter(({ result }) => result.outcome === "accepted").map(({ row }) => row),
      );
    } catch (cause) {
      for (const { message } of kept)
        events.onEnd(message, { kind: "requeue", seconds: TRY_AGAIN_SECONDS, cause });
      return;
    }
    for (const { message, result } of kept) {
      events.onEnd(message, { kind: "attempted", attempt: { result, mxHost: "capture" } });
    }
  };

  const captured = async (message: ReadyMessage): Promise<Captured | undefined> => {
    const transaction = await prepare(message, composing, events);
    if (transaction === null) return undefined;
    const { mailFrom, rcptTo, subject, message: raw } = transaction;
    const { workspace_id: workspaceId, message_id: messageId, from_email: fromEmail } = message;
    const row = { workspaceId, messageId, fromEmail, mailFrom, rcptTo, subject, raw };
    return { message, row, result: captureReply(rcptTo) };
  };

  const work = async () => {
    isWorking = true;
    for (let batch = waiting.splice(0, BATCH); batch.length > 0; batch = waiting.splice(0, BATCH)) {
      const startable = batch.filter((message) => events.mayStart(message));
      for (const message of batch) if (!startable.includes(message)) release(message);
      await captureBatch(startable);
    }
    isWorking = false;
  };

  return {
    send(message) {
      waiting.push(message);
      if (!isWorking) void work();
    },
    saturatedDomains: () => [],
    close() {
      for (const message of waiting.splice(0)) release(message);
    },
  };
}

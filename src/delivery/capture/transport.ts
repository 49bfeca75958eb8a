/**
 * Capture mode: nothing leaves the machine. A message is composed and signed as usual and put into the local inbox, unless
 * its recipient asks for a refusal (simulated-replies.ts).
 */

import { type ComposeOptions, prepare } from "#delivery/compose/compose-leased-message.ts";
import type { ReadyMessage } from "#delivery/message/message.ts";
import type { Transport, TransportEvents } from "#delivery/message/transport.ts";
import type { Database } from "#platform/database/pool.ts";
import { MicroBatch } from "#platform/micro-batch.ts";
import type { TransactionResult } from "#smtp-client/outcome.ts";
import { captureReply } from "./simulated-replies.ts";
import { insertCaptured, type NewCaptured } from "./store.ts";

const BATCH = 100;
/** The delay before a batch that the database could not store is retried. */
const RETRY_SECONDS = 5;

interface Captured {
  readonly message: ReadyMessage;
  readonly row: NewCaptured;
  readonly result: TransactionResult;
}

export class CaptureTransport implements Transport {
  readonly #db: Database;
  readonly #composing: ComposeOptions;
  readonly #events: TransportEvents;
  readonly #batch: MicroBatch<ReadyMessage>;

  constructor(db: Database, composing: ComposeOptions, events: TransportEvents) {
    this.#db = db;
    this.#composing = composing;
    this.#events = events;
    this.#batch = new MicroBatch({ flush: (batch) => this.#capture(batch), size: BATCH });
  }

  send(message: ReadyMessage): void {
    this.#batch.add(message);
  }

  saturatedDomains(): string[] {
    return [];
  }

  close(): void {
    for (const message of this.#batch.remove()) this.#release(message);
  }

  async #capture(batch: readonly ReadyMessage[]): Promise<void> {
    const startable = batch.filter((message) => this.#events.mayStart(message));
    for (const message of batch) if (!startable.includes(message)) this.#release(message);
    const composed = await Promise.all(startable.map((message) => this.#compose(message)));
    const captured = composed.filter((one) => one !== undefined);
    const accepted = captured.filter(({ result }) => result.outcome === "accepted");
    try {
      await insertCaptured(
        this.#db,
        accepted.map(({ row }) => row),
      );
    } catch (cause) {
      for (const { message } of captured) {
        this.#events.onEnd(message, { kind: "requeue", seconds: RETRY_SECONDS, cause });
      }
      return;
    }
    for (const { message, result } of captured) {
      this.#events.onEnd(message, { kind: "attempted", attempt: { result, mxHost: "capture" } });
    }
  }

  async #compose(message: ReadyMessage): Promise<Captured | undefined> {
    const transaction = await prepare(message, this.#composing, this.#events);
    if (transaction === null) return undefined;
    const { mailFrom, rcptTo, subject, message: raw } = transaction;
    const { workspace_id: workspaceId, message_id: messageId, from_email: fromEmail } = message;
    const row = { workspaceId, messageId, fromEmail, mailFrom, rcptTo, subject, raw };
    return { message, row, result: captureReply(rcptTo) };
  }

  #release(message: ReadyMessage): void {
    this.#events.onEnd(message, { kind: "release" });
  }
}

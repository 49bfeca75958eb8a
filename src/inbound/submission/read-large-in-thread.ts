import { hash } from "node:crypto";
import { SmtpReply } from "#inbound/listener/smtp-reply.ts";
import {
  createWorkerThread,
  type WorkerThread,
  type WorkerThreadLimits,
} from "#platform/process/worker-thread.ts";
import { type ReadSubmission, readSubmission, type SubmissionContext } from "./read-submission.ts";

/** Octets up to which a message is read on the event loop, in about a millisecond. */
export const SMALL_MESSAGE = 256 * 1024;
const LIMITS: WorkerThreadLimits = { deadlineMs: 20_000, heapMb: 512 };

/** The question to the thread. */
export interface GivenSubmission {
  readonly message: Uint8Array<ArrayBuffer>;
  readonly context: SubmissionContext;
}

/** The answer of the thread: the message, or the reply that refuses it. */
export type ReadAnswer =
  | {
      readonly ok: true;
      readonly read: Omit<ReadSubmission, "raw">;
      readonly raw: Uint8Array;
      readonly digest: string;
    }
  | { readonly ok: false; readonly code: number; readonly enhanced: string; readonly text: string };

export interface ReadWithDigest extends ReadSubmission {
  /** SHA-256 of the message as submitted, in hexadecimal. */
  readonly digest: () => string;
}

/** Reads submitted messages: small ones on the event loop, large ones in a worker thread, so that they delay no session. */
export class SubmissionReader {
  readonly #thread: WorkerThread<GivenSubmission, ReadAnswer>;

  constructor(limits: WorkerThreadLimits = LIMITS) {
    this.#thread = createWorkerThread(new URL("parse-large-thread.ts", import.meta.url), limits);
  }

  /** @throws SmtpReply that says what is wrong with the message; 451 when reading takes too long */
  async read(message: Buffer, context: SubmissionContext): Promise<ReadWithDigest> {
    if (message.length <= SMALL_MESSAGE) {
      return { ...readSubmission(message, context), digest: () => hash("sha256", message) };
    }
    const copy = new Uint8Array(message);
    const answer = await this.#thread.ask({ message: copy, context }, [copy.buffer]);
    if (!answer.ok) {
      throw new SmtpReply(451, "4.3.2", "The message takes too long to read: retry later");
    }
    const reading = answer.answer;
    if (!reading.ok) throw new SmtpReply(reading.code, reading.enhanced, reading.text);
    const { buffer, byteOffset, byteLength } = reading.raw;
    return {
      ...reading.read,
      raw: Buffer.from(buffer, byteOffset, byteLength),
      digest: () => reading.digest,
    };
  }

  close(): Promise<void> {
    return this.#thread.close();
  }
}

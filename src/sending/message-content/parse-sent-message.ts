/**
 * Parses messages as they were sent, in a worker thread: a message of 27 MB takes most of a second, and what a client
 * submitted by SMTP may be crafted to take long.
 */
import { ApiError } from "#platform/errors.ts";
import { createWorkerThread } from "#platform/process/worker-thread.ts";

export interface ParsedMessage {
  /** In the order of the message, unfolded. */
  readonly headers: readonly { readonly name: string; readonly value: string }[];
  readonly html: string | null;
  readonly text: string | null;
  readonly attachments: readonly {
    readonly filename: string;
    readonly content_type: string;
    readonly content_id: string | null;
    /** Decoded octets. */
    readonly size: number;
  }[];
}

export type ParseSentMessage = (raw: Buffer) => Promise<ParsedMessage>;

/** Far more than the largest message takes. */
const LIMITS = { deadlineMs: 20_000, heapMb: 512 };

/** @throws ApiError CONFLICT from the returned function, for a message that cannot be parsed within its limits */
export function sentMessageParser(): ParseSentMessage {
  const module = new URL("parse-sent-message-thread.ts", import.meta.url);
  const thread = createWorkerThread<Uint8Array, ParsedMessage>(module, LIMITS);
  return async (raw) => {
    const answer = await thread.ask(raw);
    if (answer.ok) return answer.answer;
    throw new ApiError(
      "CONFLICT",
      "The message takes too long to parse: download its source, which is not parsed",
    );
  };
}

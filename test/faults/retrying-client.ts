/**
 * A correct API client: each message has an Idempotency-Key, and a request without an answer, or with 409 or 503, is
 * retried with the same key until it is accepted. Now and then it also repeats an accepted request, which must get the
 * same id.
 */
import { setTimeout as delay } from "node:timers/promises";

const WORKERS = 16;
/** Delay after a request without an answer. */
const RETRY_MS = 250;
/** Delay after 503, or after 409: the first request with this key may still be running. */
const RETRY_LATER_MS = 2_000;
/** One in so many accepted messages is sent once more. */
const REPEATED = 20;

export interface RetryingClientOptions {
  /** The URL of the service for the next request. */
  readonly url: () => string;
  readonly apiKey: string;
  /** New messages per second. */
  readonly rate: number;
  /** How long it waits for an answer; by default as long as the connection holds. */
  readonly answerMs?: number;
  /** Of the Idempotency-Keys; `message` without it. */
  readonly keyPrefix?: string;
  readonly emailFor: (number: number) => Readonly<Record<string, string>>;
}

export interface RetryingClient {
  /** Message ids by Idempotency-Key. */
  readonly accepted: ReadonlyMap<string, string>;
  /** Keys that got two different ids. */
  readonly contradicted: readonly string[];
  /** Number of requests without an answer. */
  readonly unanswered: number;
  /** Answers that a correct client must not get, such as a 500. */
  readonly refused: readonly string[];
  /** Starts no more messages; resolves when all started ones have been accepted. */
  finish(): Promise<void>;
  /** Starts no more messages, and gives up those without an answer. */
  abandon(): void;
}

interface Message {
  readonly key: string;
  readonly body: string;
  dueAt: number;
}

export function startRetryingClient(options: RetryingClientOptions): RetryingClient {
  const accepted = new Map<string, string>();
  const contradicted: string[] = [];
  const refused: string[] = [];
  const again: Message[] = [];
  const startedAt = performance.now();
  let begun = 0;
  let unanswered = 0;
  let isFinishing = false;
  let isAbandoned = false;

  /** A message due for a retry, or a new one if the rate allows it. */
  const next = (): Message | undefined => {
    const due = again.findIndex(({ dueAt }) => dueAt <= performance.now());
    if (due >= 0) return again.splice(due, 1)[0];
    if (isFinishing || begun >= ((performance.now() - startedAt) / 1000) * options.rate) return undefined;
    const number = begun++;
    return {
      key: `${options.keyPrefix ?? "message"}-${number}`,
      body: JSON.stringify(options.emailFor(number)),
      dueAt: 0,
    };
  };

  const retry = (message: Message, afterMs: number) => {
    message.dueAt = performance.now() + afterMs;
    again.push(message);
  };

  const send = async (message: Message): Promise<void> => {
    let status: number;
    let text: string;
    try {
      const answer = await fetch(`${options.url()}/api/v1/emails/send`, {
        method: "POST",
        headers: {
          "X-API-Key": options.apiKey,
          "Content-Type": "application/json",
          "Idempotency-Key": message.key,
        },
        body: message.body,
        ...(options.answerMs !== undefined && { signal: AbortSignal.timeout(options.answerMs) }),
      });
      status = answer.status;
      text = await answer.text();
    } catch {
      unanswered += 1;
      retry(message, RETRY_MS);
      await delay(RETRY_MS);
      return;
    }
    if (status !== 201) {
      if (status !== 409 && status !== 503) refused.push(`${status}: ${text}`);
      return retry(message, RETRY_LATER_MS);
    }
    const { data } = JSON.parse(text) as { data: { id: string } };
    const known = accepted.get(message.key);
    if (known !== undefined && known !== data.id) contradicted.push(message.key);
    accepted.set(message.key, data.id);
    if (known === undefined && accepted.size % REPEATED === 0) retry(message, RETRY_LATER_MS);
  };

  const work = async (): Promise<void> => {
    while (!isAbandoned && (!isFinishing || again.length > 0)) {
      const message = next();
      if (message) await send(message);
      else await delay(5);
    }
  };
  const working = Promise.all(Array.from({ length: WORKERS }, work));

  return {
    accepted,
    contradicted,
    refused,
    get unanswered() {
      return unanswered;
    },
    abandon() {
      isFinishing = true;
      isAbandoned = true;
    },
    async finish() {
      isFinishing = true;
      await working;
    },
  };
}

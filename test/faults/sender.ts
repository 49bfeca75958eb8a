/**
 * A client as it should be: every message has an Idempotency-Key, and what got no answer, or one that says "later", is
 * sent again with the same key until it is accepted. It keeps what it was told, and asks again now and then.
 */
import { setTimeout as delay } from "node:timers/promises";

const WORKERS = 16;
/** What got no answer is sent again soon; what the service puts off (409: the first one may still run) a bit later. */
const RETRY_MS = 250;
const PUT_OFF_MS = 2_000;
/** One accepted message in so many is sent once more, as by a client that forgot. */
const ASKED_AGAIN = 20;

export interface SenderOptions {
  /** Where the service is at this moment. */
  readonly url: () => string;
  readonly apiKey: string;
  /** New messages per second. */
  readonly rate: number;
  readonly emailFor: (number: number) => Readonly<Record<string, string>>;
}

export interface Sender {
  /** The id that each accepted message was given, by its Idempotency-Key. */
  readonly accepted: ReadonlyMap<string, string>;
  /** Keys that got two ids: each of them is a fault. */
  readonly contradicted: readonly string[];
  /** Requests that had no answer. */
  readonly unanswered: number;
  /** Answers that a well-behaved client must not get, such as a 500. */
  readonly refused: readonly string[];
  /** Begins no more messages, and resolves when all that were begun have been accepted. */
  finish(): Promise<void>;
}

interface Message {
  readonly key: string;
  readonly body: string;
  dueAt: number;
}

export function startSender(options: SenderOptions): Sender {
  const accepted = new Map<string, string>();
  const contradicted: string[] = [];
  const refused: string[] = [];
  const again: Message[] = [];
  const startedAt = performance.now();
  let begun = 0;
  let unanswered = 0;
  let isFinishing = false;

  /** A message that is due again, or a new one when it is time for it. */
  const next = (): Message | undefined => {
    const due = again.findIndex(({ dueAt }) => dueAt <= performance.now());
    if (due >= 0) return again.splice(due, 1)[0];
    if (isFinishing || begun >= ((performance.now() - startedAt) / 1000) * options.rate) return undefined;
    const number = begun++;
    return { key: `message-${number}`, body: JSON.stringify(options.emailFor(number)), dueAt: 0 };
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
      return retry(message, PUT_OFF_MS);
    }
    const { data } = JSON.parse(text) as { data: { id: string } };
    const known = accepted.get(message.key);
    if (known !== undefined && known !== data.id) contradicted.push(message.key);
    accepted.set(message.key, data.id);
    if (known === undefined && accepted.size % ASKED_AGAIN === 0) retry(message, PUT_OFF_MS);
  };

  const work = async (): Promise<void> => {
    while (!isFinishing || again.length > 0) {
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
    async finish() {
      isFinishing = true;
      await working;
    },
  };
}

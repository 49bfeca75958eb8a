/**
 * The look-ups of a process: one thread for all of them (look-up-thread.ts), one look-up for equal questions that are
 * asked at the same time, and what is known is not asked again before its TTL has passed (RFC 1035 section 7.4, RFC 2308).
 */
import { Worker } from "node:worker_threads";
import { ExpiringMap } from "#platform/cache.ts";
import type { Question, Reply } from "./question.ts";

export interface Asked {
  readonly id: number;
  readonly question: Question;
}

export interface Answered {
  readonly id: number;
  readonly reply: Reply;
}

const MOST_KEPT = 50_000;
/** Of one answer as JSON: larger ones are not kept, so that all of them together take some tens of megabytes at most. */
const MOST_KEPT_LENGTH = 1_000;
const HEAP_MB = 128;
const THREAD = new URL("look-up-thread.ts", import.meta.url);

export class LookUps {
  #thread: Worker | null = null;
  #unsent: Asked[] = [];
  #lastId = 0;
  readonly #asked = new Map<number, (reply: Reply) => void>();
  readonly #underWay = new Map<string, Promise<Reply>>();
  readonly #known: ExpiringMap<Reply>;

  /** @param now in milliseconds, for the TTLs */
  constructor(now?: () => number) {
    this.#known = new ExpiringMap(MOST_KEPT, now);
  }

  /** @param isFresh asks the servers whatever is known or under way. Never rejects. */
  async ask(question: Question, isFresh: boolean): Promise<Reply> {
    const key = JSON.stringify(question);
    const subject = JSON.stringify([
      question.name.toLowerCase(),
      question.type,
      question.wantsDnssec,
      question.servers,
    ]);
    if (isFresh) return this.#keep(subject, await this.#ask(question));
    const known = this.#known.get(subject);
    if (known !== undefined) return known;
    const underWay = this.#underWay.get(key);
    if (underWay !== undefined) return underWay;
    const asking = this.#ask(question);
    this.#underWay.set(key, asking);
    try {
      return this.#keep(subject, await asking);
    } finally {
      this.#underWay.delete(key);
    }
  }

  #keep(subject: string, reply: Reply): Reply {
    this.#known.delete(subject);
    if (
      reply.outcome !== "failed" &&
      reply.ttlSeconds > 0 &&
      JSON.stringify(reply).length <= MOST_KEPT_LENGTH
    ) {
      this.#known.set(subject, reply, reply.ttlSeconds * 1_000);
    }
    return reply;
  }

  #ask(question: Question): Promise<Reply> {
    const { promise, resolve } = Promise.withResolvers<Reply>();
    const id = ++this.#lastId;
    this.#asked.set(id, resolve);
    // The process lives while something is asked.
    if (this.#asked.size === 1) this.#started().ref();
    // What is asked in one turn of the loop travels as one message.
    if (this.#unsent.length === 0) queueMicrotask(() => this.#send());
    this.#unsent.push({ id, question });
    return promise;
  }

  #send(): void {
    this.#started().postMessage(this.#unsent);
    this.#unsent = [];
  }

  #started(): Worker {
    if (this.#thread !== null) return this.#thread;
    const thread = new Worker(THREAD, { resourceLimits: { maxOldGenerationSizeMb: HEAP_MB } });
    thread.on("message", (answered: readonly Answered[]) => {
      for (const { id, reply } of answered) this.#settle(id, reply);
    });
    // Its end, which follows, says the rest.
    let fault = "the look-up thread has ended";
    thread.on("error", (cause) => {
      fault = `the look-up thread has ended: ${cause.message}`;
    });
    thread.on("exit", () => {
      this.#thread = null;
      for (const id of this.#asked.keys()) {
        this.#settle(id, { outcome: "failed", reason: fault, isUnanswered: true });
      }
    });
    this.#thread = thread;
    return thread;
  }

  #settle(id: number, reply: Reply): void {
    this.#asked.get(id)?.(reply);
    this.#asked.delete(id);
    if (this.#asked.size === 0) this.#thread?.unref();
  }
}

/** What everything in this process shares. */
export const lookUpsOfProcess = new LookUps();

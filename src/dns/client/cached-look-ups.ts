/**
 * DNS look-ups of a process, done in one worker thread (look-up-thread.ts). Equal questions at the same time share one
 * look-up, and answers are cached for their TTL (RFC 1035 section 7.4, RFC 2308).
 */
import { Worker } from "node:worker_threads";
import { ExpiringMap } from "#platform/cache.ts";
import type { DnsReply, Question } from "./question-and-reply.ts";

export interface LookUpRequest {
  readonly id: number;
  readonly question: Question;
}

export interface LookUpAnswer {
  readonly id: number;
  readonly reply: DnsReply;
}

const MOST_KEPT = 50_000;
/** Longest cached answer, in characters of JSON. It keeps the whole cache below some tens of megabytes. */
const MOST_KEPT_LENGTH = 1_000;
const HEAP_MB = 128;
const THREAD = new URL("look-up-thread.ts", import.meta.url);

export class LookUps {
  #thread: Worker | null = null;
  #unsent: LookUpRequest[] = [];
  #lastId = 0;
  readonly #asked = new Map<number, (reply: DnsReply) => void>();
  readonly #underWay = new Map<string, Promise<DnsReply>>();
  readonly #known: ExpiringMap<DnsReply>;

  /** @param now in milliseconds, for the TTLs */
  constructor(now?: () => number) {
    this.#known = new ExpiringMap(MOST_KEPT, now);
  }

  /** Never rejects. @param isFresh asks the servers even if the answer is cached or the question is under way */
  async ask(question: Question, isFresh: boolean): Promise<DnsReply> {
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

  #keep(subject: string, reply: DnsReply): DnsReply {
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

  #ask(question: Question): Promise<DnsReply> {
    const { promise, resolve } = Promise.withResolvers<DnsReply>();
    const id = ++this.#lastId;
    this.#asked.set(id, resolve);
    // The thread keeps the process alive only while a question is open.
    if (this.#asked.size === 1) this.#started().ref();
    // All questions of one iteration of the event loop are sent as one message.
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
    thread.on("message", (answered: readonly LookUpAnswer[]) => {
      for (const { id, reply } of answered) this.#settle(id, reply);
    });
    // The event "exit" follows and fails the open questions.
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

  #settle(id: number, reply: DnsReply): void {
    this.#asked.get(id)?.(reply);
    this.#asked.delete(id);
    if (this.#asked.size === 0) this.#thread?.unref();
  }
}

/** The one instance of this process. */
export const lookUpsOfProcess = new LookUps();

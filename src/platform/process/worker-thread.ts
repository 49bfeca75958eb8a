/**
 * One thread beside the event loop, for work that may take long, or never end: it is started with the first question,
 * answers one at a time, and is ended when an answer takes too long or too much memory, and when it has been idle for
 * some seconds. The next question starts it anew.
 */
import { once } from "node:events";
import { Worker } from "node:worker_threads";

export type SideAnswer<Answer> =
  | { readonly ok: true; readonly answer: Answer }
  | { readonly ok: false; readonly reason: "too_slow" | "too_large" };

export interface SideThread<Question, Answer> {
  /**
   * @param moved buffers of the question that are not needed here any more, and so need not be copied
   * @throws what the module threw, and when the thread has been closed
   */
  ask(question: Question, moved?: readonly ArrayBuffer[]): Promise<SideAnswer<Answer>>;
  close(): Promise<void>;
}

export interface SideThreadLimits {
  /** From question to answer. */
  readonly deadlineMs: number;
  readonly heapMb: number;
  /** How long the thread waits for a further question before it is ended, so that its memory is given back. */
  readonly idleMs?: number;
}

/** A thread takes some 50 ms to start, and keeps what its last questions took: a hundred megabytes for a large one. */
const IDLE_MS = 10_000;

/** @param module answers each message on its parent port with one message */
export function createSideThread<Question, Answer>(
  module: URL,
  limits: SideThreadLimits,
): SideThread<Question, Answer> {
  return new StartedOnDemand<Question, Answer>(module, limits);
}

class StartedOnDemand<Question, Answer> implements SideThread<Question, Answer> {
  readonly #module: URL;
  readonly #deadlineMs: number;
  readonly #heapMb: number;
  readonly #idleMs: number;
  readonly #closing = new AbortController();
  #worker: Worker | null = null;
  #last: Promise<unknown> = Promise.resolve();
  #asked = 0;
  #idle: NodeJS.Timeout | undefined;

  constructor(module: URL, { deadlineMs, heapMb, idleMs = IDLE_MS }: SideThreadLimits) {
    this.#module = module;
    this.#deadlineMs = deadlineMs;
    this.#heapMb = heapMb;
    this.#idleMs = idleMs;
  }

  ask(question: Question, moved: readonly ArrayBuffer[] = []): Promise<SideAnswer<Answer>> {
    clearTimeout(this.#idle);
    this.#asked += 1;
    const answer = this.#last.then(() => this.#answerTo(question, moved));
    this.#last = answer
      .catch(() => {})
      .then(() => {
        this.#asked -= 1;
        if (this.#asked === 0) this.#idle = setTimeout(() => void this.#end(), this.#idleMs).unref();
      });
    return answer;
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.#last;
    clearTimeout(this.#idle);
    await this.#end();
  }

  async #answerTo(question: Question, moved: readonly ArrayBuffer[]): Promise<SideAnswer<Answer>> {
    this.#closing.signal.throwIfAborted();
    this.#worker ??= this.#start();
    const signal = AbortSignal.any([this.#closing.signal, AbortSignal.timeout(this.#deadlineMs)]);
    try {
      const answered = once(this.#worker, "message", { signal });
      this.#worker.postMessage(question, moved);
      const [answer] = await answered;
      return { ok: true, answer };
    } catch (fault) {
      await this.#end();
      const reason = limitOf(fault);
      if (reason === null) throw fault;
      return { ok: false, reason };
    }
  }

  #start(): Worker {
    const worker = new Worker(new URL("worker-thread-start.ts", import.meta.url), {
      workerData: { module: this.#module.href },
      resourceLimits: { maxOldGenerationSizeMb: this.#heapMb },
    });
    worker.unref();
    // The caller that waits for an answer gets the error; between two questions nothing is lost.
    worker.on("error", () => {});
    worker.on("exit", () => {
      if (this.#worker === worker) this.#worker = null;
    });
    return worker;
  }

  async #end(): Promise<void> {
    const worker = this.#worker;
    this.#worker = null;
    await worker?.terminate();
  }
}

/** The limit that was reached, null when it was something else. */
function limitOf(fault: unknown): "too_slow" | "too_large" | null {
  if (!(fault instanceof Error)) return null;
  if ("code" in fault && fault.code === "ERR_WORKER_OUT_OF_MEMORY") return "too_large";
  return fault.cause instanceof Error && fault.cause.name === "TimeoutError" ? "too_slow" : null;
}

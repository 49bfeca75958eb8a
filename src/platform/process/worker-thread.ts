/**
 * A worker thread for work that may take long or never end. It is started with the first question and answers one at a
 * time. It is terminated when an answer takes too much time or memory, and after some idle seconds; the next question
 * starts it again.
 */
import { once } from "node:events";
import { Worker } from "node:worker_threads";

export type ThreadAnswer<Answer> =
  | { readonly ok: true; readonly answer: Answer }
  | { readonly ok: false; readonly reason: "too_slow" | "too_large" };

export interface WorkerThread<Question, Answer> {
  /**
   * @param moved buffers of the question to be transferred instead of copied; they cannot be used here afterwards
   * @throws what the module throws, and an Error if the thread was closed
   */
  ask(question: Question, moved?: readonly ArrayBuffer[]): Promise<ThreadAnswer<Answer>>;
  close(): Promise<void>;
}

export interface WorkerThreadLimits {
  /** For one answer, from the moment the thread runs. */
  readonly deadlineMs: number;
  readonly heapMb: number;
  /** Idle time after which the thread is terminated, to free its memory. */
  readonly idleMs?: number;
}

/** For the start of a thread: loading its modules takes up to a second of processor time, and a busy machine longer. */
const START_MS = 60_000;

/** A thread keeps the memory of its last questions: a hundred megabytes for a large one. */
const IDLE_MS = 10_000;

/** @param module of the thread; must answer each message on its parent port with one message */
export function createWorkerThread<Question, Answer>(
  module: URL,
  limits: WorkerThreadLimits,
): WorkerThread<Question, Answer> {
  return new StartedOnDemand<Question, Answer>(module, limits);
}

class StartedOnDemand<Question, Answer> implements WorkerThread<Question, Answer> {
  readonly #module: URL;
  readonly #deadlineMs: number;
  readonly #heapMb: number;
  readonly #idleMs: number;
  readonly #closing = new AbortController();
  #worker: Worker | null = null;
  #started: Promise<unknown> = Promise.resolve();
  #last: Promise<unknown> = Promise.resolve();
  #asked = 0;
  #idle: NodeJS.Timeout | undefined;

  constructor(module: URL, { deadlineMs, heapMb, idleMs = IDLE_MS }: WorkerThreadLimits) {
    this.#module = module;
    this.#deadlineMs = deadlineMs;
    this.#heapMb = heapMb;
    this.#idleMs = idleMs;
  }

  ask(question: Question, moved: readonly ArrayBuffer[] = []): Promise<ThreadAnswer<Answer>> {
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

  async #answerTo(question: Question, moved: readonly ArrayBuffer[]): Promise<ThreadAnswer<Answer>> {
    this.#closing.signal.throwIfAborted();
    const worker = this.#worker ?? this.#start();
    try {
      await this.#started;
      const answered = once(worker, "message", { signal: this.#within(this.#deadlineMs) });
      worker.postMessage(question, moved);
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
    // The caller of `ask` gets the error; between two questions it can be ignored.
    worker.on("error", () => {});
    // The first message says that the thread runs.
    this.#started = once(worker, "message", { signal: this.#within(START_MS) });
    this.#worker = worker;
    worker.on("exit", () => {
      if (this.#worker === worker) this.#worker = null;
    });
    return worker;
  }

  #within(ms: number): AbortSignal {
    return AbortSignal.any([this.#closing.signal, AbortSignal.timeout(ms)]);
  }

  async #end(): Promise<void> {
    const worker = this.#worker;
    this.#worker = null;
    await worker?.terminate();
  }
}

/** The limit that was exceeded; null for another error. */
function limitOf(fault: unknown): "too_slow" | "too_large" | null {
  if (!(fault instanceof Error)) return null;
  if ("code" in fault && fault.code === "ERR_WORKER_OUT_OF_MEMORY") return "too_large";
  return fault.cause instanceof Error && fault.cause.name === "TimeoutError" ? "too_slow" : null;
}

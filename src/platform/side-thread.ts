/**
 * One thread beside the event loop, for what may take long, or for ever: it is started with the first question, answers
 * one at a time, and is ended when it takes too long or too much memory. The next question starts it anew.
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
}

/** @param module answers each message on its parent port with one message */
export function createSideThread<Question, Answer>(
  module: URL,
  { deadlineMs, heapMb }: SideThreadLimits,
): SideThread<Question, Answer> {
  const closing = new AbortController();
  let worker: Worker | null = null;
  let last: Promise<unknown> = Promise.resolve();

  const start = (): Worker => {
    const started = new Worker(module, { resourceLimits: { maxOldGenerationSizeMb: heapMb } });
    started.unref();
    // Whoever asks hears of it; between two questions nobody does, and nothing is lost.
    started.on("error", () => {});
    started.on("exit", () => {
      if (worker === started) worker = null;
    });
    return started;
  };
  const end = async () => {
    const ended = worker;
    worker = null;
    await ended?.terminate();
  };
  const answerTo = async (question: Question, moved: readonly ArrayBuffer[]): Promise<SideAnswer<Answer>> => {
    closing.signal.throwIfAborted();
    worker ??= start();
    const signal = AbortSignal.any([closing.signal, AbortSignal.timeout(deadlineMs)]);
    try {
      const answered = once(worker, "message", { signal });
      worker.postMessage(question, moved);
      const [answer] = await answered;
      return { ok: true, answer };
    } catch (fault) {
      await end();
      const reason = limitOf(fault);
      if (reason === null) throw fault;
      return { ok: false, reason };
    }
  };

  return {
    ask(question, moved = []) {
      const answer = last.then(() => answerTo(question, moved));
      last = answer.catch(() => {});
      return answer;
    },
    async close() {
      closing.abort();
      await last;
      await end();
    },
  };
}

/** The limit that was reached, null when it was something else. */
function limitOf(fault: unknown): "too_slow" | "too_large" | null {
  if (!(fault instanceof Error)) return null;
  if ("code" in fault && fault.code === "ERR_WORKER_OUT_OF_MEMORY") return "too_large";
  return fault.cause instanceof Error && fault.cause.name === "TimeoutError" ? "too_slow" : null;
}

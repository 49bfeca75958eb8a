/** Following a background job until its end. */
import { sleep } from "./send.ts";
import type { Data } from "./shapes.ts";

export type Job = Data<"getJob">;

export interface WatchOptions {
  /** Milliseconds between two looks. Default: from 500 to 5,000, growing. */
  readonly intervalMs?: number | undefined;
  /** Ends the waiting, which then rejects with the signal's reason; the job goes on. */
  readonly signal?: AbortSignal | undefined;
}

export interface WaitOptions extends WatchOptions {
  /** Called with the job at every change, the ended one last. */
  readonly onProgress?: ((job: Job) => void) | undefined;
}

const FIRST_INTERVAL_MS = 500;
const LONGEST_INTERVAL_MS = 5_000;

/** Gives the job at every change, the ended one last. @param look reads the job */
export async function* watch(
  look: () => Promise<Job>,
  { intervalMs, signal }: WatchOptions,
): AsyncGenerator<Job, void, undefined> {
  let shown = "";
  for (let wait = intervalMs ?? FIRST_INTERVAL_MS; ; wait = Math.min(LONGEST_INTERVAL_MS, wait * 1.5)) {
    signal?.throwIfAborted();
    const job = await look();
    const text = JSON.stringify(job);
    if (text !== shown) yield job;
    shown = text;
    if (job.status !== "pending" && job.status !== "processing") return;
    await sleep(intervalMs ?? wait, signal);
  }
}

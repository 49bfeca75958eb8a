/** The client: a method for each operation of the API (`operations.ts`), and the following of jobs. */
import { Call, type NextPage, PagedCall } from "./call.ts";
import { type Job, type WaitOptions, type WatchOptions, watch } from "./jobs.ts";
import { type Operations, operationTable } from "./operations.ts";
import { type CallInput, type Operation, type PosthasteOptions, Sender } from "./send.ts";

class Client {
  readonly #sender: Sender;

  constructor(options: PosthasteOptions) {
    this.#sender = new Sender(options);
  }

  static {
    for (const [name, row] of Object.entries(operationTable)) {
      const value = function (this: Client, input: CallInput = {}) {
        return this.#call(row, input);
      };
      Object.defineProperty(Client.prototype, name, { value, writable: true, configurable: true });
    }
  }

  /**
   * Follows a background job, such as an import, that another call started: the job at every change, the ended one last.
   * The key needs the permission to see the job.
   */
  watchJob(jobId: string, options: WatchOptions = {}): AsyncGenerator<Job, void, undefined> {
    const { signal } = options;
    return watch(() => (this as unknown as Operations).getJob({ job_id: jobId, signal }), options);
  }

  /** Waits for the end of a background job, and gives it. Its `status` tells whether it succeeded. */
  async waitForJob(jobId: string, options: WaitOptions = {}): Promise<Job> {
    let last: Job | undefined;
    for await (const job of this.watchJob(jobId, options)) {
      last = job;
      options.onProgress?.(job);
    }
    if (last === undefined) throw new Error("watchJob gave no job");
    return last;
  }

  #call(row: string, input: CallInput) {
    const [method = "", path = "", ...particular] = row.split(" ");
    const within = (open: string) => particular.find((one) => one.startsWith(open))?.slice(1, -1);
    const operation: Operation = {
      method,
      path,
      takesKey: particular.includes("key"),
      answersFile: particular.includes("file"),
      fileField: within("("),
    };
    const rows = within("[");
    const answer = this.#sender.send(operation, input);
    if (rows === undefined) return new Call(answer);
    return new PagedCall(answer, rows, (next) => this.#sender.send(operation, pageInput(input, next)));
  }
}

/** The input for another page: the same filter and limit. */
function pageInput(input: CallInput, next: NextPage): CallInput {
  const { page: _page, after: _after, ...filter } = (input.query ?? {}) as Record<string, unknown>;
  return { ...input, query: { ...filter, ...next } };
}

/** A client of one service, with one API key. */
export type Posthaste = Client & Operations;
export const Posthaste = Client as unknown as new (options: PosthasteOptions) => Posthaste;

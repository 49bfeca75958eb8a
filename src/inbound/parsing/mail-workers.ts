/** Workers of one process that take stored mail in turn. */
import { setTimeout as delay } from "node:timers/promises";

/** How often a worker looks for due mail without a notification. */
const POLL_INTERVAL_MS = 5_000;

interface MailWork<Lease> {
  /** Mails that are processed at a time. */
  readonly workers: number;
  /** Leases the next due mail; undefined when none is due. */
  readonly leaseNext: () => Promise<Lease | undefined>;
  /** Processes a leased mail. Never rejects. */
  readonly processOne: (lease: Lease) => Promise<void>;
  readonly onLeaseFault: (fault: unknown) => void;
}

/** A worker that finds a mail starts another idle worker, because more mails may wait. */
export class MailWorkers<Lease> {
  readonly #work: MailWork<Lease>;
  readonly #stopping = new AbortController();
  /** Idle workers, by the function that wakes each. */
  readonly #idle: (() => void)[] = [];
  /** Set when `wake` found no idle worker: the next worker that finds no mail looks again. */
  #isWakePending = false;
  readonly #running: Promise<unknown>;

  constructor(work: MailWork<Lease>) {
    this.#work = work;
    this.#running = Promise.all(Array.from({ length: work.workers }, () => this.#runWorker()));
  }

  /** Lets a worker look for mail now. */
  wake(): void {
    const wakeOne = this.#idle.shift();
    if (wakeOne === undefined) this.#isWakePending = true;
    else wakeOne();
  }

  /** Resolves when the mails in progress are done. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#running;
  }

  async #runWorker(): Promise<void> {
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      const found = await this.#processNext().catch((fault: unknown) => {
        this.#work.onLeaseFault(fault);
        return false;
      });
      if (found) continue;
      if (this.#isWakePending) this.#isWakePending = false;
      else await this.#waitIdle(signal);
    }
  }

  async #processNext(): Promise<boolean> {
    const lease = await this.#work.leaseNext();
    if (lease === undefined) return false;
    this.#idle.shift()?.();
    await this.#work.processOne(lease);
    return true;
  }

  async #waitIdle(stopping: AbortSignal): Promise<void> {
    const woken = new AbortController();
    const wakeThis = () => woken.abort();
    this.#idle.push(wakeThis);
    await delay(POLL_INTERVAL_MS, undefined, { signal: AbortSignal.any([woken.signal, stopping]) }).catch(
      () => {},
    );
    const at = this.#idle.indexOf(wakeThis);
    if (at >= 0) this.#idle.splice(at, 1);
  }
}

import type { SmtpFault } from "#smtp-client/outcome.ts";

/** The longest part of a probe's time that is kept for QUIT and its reply. */
const LONGEST_QUIT_MS = 500;

/** The deadline at which a probe has to return its findings: its time has passed, or the service stops. */
export class ProbeDeadline {
  /** All the time of the probe. */
  readonly totalMs: number;
  /** The part of it that is left for QUIT after the deadline has expired. */
  readonly quitMs: number;
  readonly #listeners = new Set<(fault: SmtpFault) => void>();
  readonly #timer: NodeJS.Timeout;
  #fault: SmtpFault | null = null;

  /** Expires `quitMs` before the end of `totalMs`; at once if that is zero. */
  constructor(totalMs: number) {
    this.totalMs = Math.max(0, totalMs);
    this.quitMs = Math.min(LONGEST_QUIT_MS, this.totalMs / 4);
    const timeout: SmtpFault = { fault: "timeout", reason: "no answer in time" };
    this.#timer = setTimeout(() => this.expire(timeout), this.totalMs - this.quitMs);
    if (this.totalMs === 0) this.expire(timeout);
  }

  /** Why the deadline expired; null until then. */
  get fault(): SmtpFault | null {
    return this.#fault;
  }

  /** Expires the deadline now. The first fault counts. */
  expire(fault: SmtpFault): void {
    this.clear();
    this.#fault ??= fault;
    for (const listener of this.#listeners) listener(this.#fault);
    this.#listeners.clear();
  }

  /** Stops the timer, so that only `expire` ends the probe. */
  clear(): void {
    clearTimeout(this.#timer);
  }

  /** Calls the listener when the deadline expires, or now if it has. @returns a function that removes the listener */
  onExpire(listener: (fault: SmtpFault) => void): () => void {
    if (this.#fault === null) this.#listeners.add(listener);
    else listener(this.#fault);
    return () => this.#listeners.delete(listener);
  }

  /** The promise's result, or the deadline's fault if that is first. */
  race<Result>(promise: Promise<Result>): Promise<Result | SmtpFault> {
    return new Promise((resolve, reject) => {
      const removeListener = this.onExpire(resolve);
      void promise.then(resolve, reject).finally(removeListener);
    });
  }
}

/** The moment at which a probe has to say what it knows: its time is up, or the service stops. */
import type { SmtpFault } from "#smtp-client/outcome.ts";

/** What QUIT and its answer may take out of the probe's time. */
const LONGEST_FAREWELL_MS = 500;

export class CutOff {
  /** All the time there is for the probe. */
  readonly deadlineMs: number;
  /** What is left, once the moment has come, to take leave in. */
  readonly farewellMs: number;
  readonly #listeners = new Set<(fault: SmtpFault) => void>();
  readonly #timer: NodeJS.Timeout;
  #fault: SmtpFault | null = null;

  /** Comes early enough that everything is over `deadlineMs` from now. */
  constructor(deadlineMs: number) {
    this.deadlineMs = Math.max(0, deadlineMs);
    this.farewellMs = Math.min(LONGEST_FAREWELL_MS, this.deadlineMs / 4);
    const timeout: SmtpFault = { fault: "timeout", reason: "no answer in time" };
    this.#timer = setTimeout(() => this.come(timeout), this.deadlineMs - this.farewellMs);
  }

  /** Null until it has come. */
  get fault(): SmtpFault | null {
    return this.#fault;
  }

  come(fault: SmtpFault): void {
    this.clear();
    this.#fault ??= fault;
    for (const listener of this.#listeners) listener(this.#fault);
    this.#listeners.clear();
  }

  /** It will not come by itself any more. */
  clear(): void {
    clearTimeout(this.#timer);
  }

  /** Calls the listener when it comes, or now; answers how to leave off. */
  listen(listener: (fault: SmtpFault) => void): () => void {
    if (this.#fault === null) this.#listeners.add(listener);
    else listener(this.#fault);
    return () => this.#listeners.delete(listener);
  }

  /** What the promise comes to, or the fault when the cut-off is first. */
  race<Result>(promise: Promise<Result>): Promise<Result | SmtpFault> {
    return new Promise((resolve, reject) => {
      const leave = this.listen(resolve);
      void promise.then(resolve, reject).finally(leave);
    });
  }
}

import type { Log } from "#platform/log/log.ts";
import { MINUTE_MS } from "#platform/time-units.ts";

/** Lines per minute of all networks together. */
const MOST_LINES = 60;

/**
 * Logs what clients of the SMTP ports do, at a bounded rate, so that a sender of junk cannot fill the log: one line per
 * network and minute, and MOST_LINES in all.
 */
export class NetworkLog {
  readonly #log: Log;
  readonly #monotonicMs: () => number;
  #minute = 0;
  /** By network: the lines of this minute that were not written, after the one that was. */
  #skipped = new Map<string, number>();
  /** The map of the last minute that had lines. */
  #before = new Map<string, number>();

  constructor(log: Log, monotonicMs: () => number = () => performance.now()) {
    this.#log = log;
    this.#monotonicMs = monotonicMs;
  }

  /** Writes the line, or counts it as `notLogged` in the network's next one. */
  note(network: string, message: string): void {
    const minute = Math.floor(this.#monotonicMs() / MINUTE_MS);
    if (minute !== this.#minute) {
      this.#minute = minute;
      this.#before = this.#skipped;
      this.#skipped = new Map();
    }
    const more = this.#skipped.get(network);
    if (more !== undefined) this.#skipped.set(network, more + 1);
    else if (this.#skipped.size < MOST_LINES) {
      this.#skipped.set(network, 0);
      this.#log.warn({ network, notLogged: this.#before.get(network) ?? 0 }, message);
    }
  }
}

/**
 * Log lines about what networks do to the SMTP ports. A sender of junk must not fill the log: a network has one line a
 * minute, and all networks together a bounded number.
 */
import type { Log } from "#platform/log/log.ts";

const MINUTE_MS = 60_000;
/** Lines in a minute, of all networks. */
const MOST_LINES = 60;

export class NetworkLog {
  readonly #log: Log;
  readonly #monotonicMs: () => number;
  #minute = 0;
  /** Networks with a line in this minute, and how much more there was to say about each. */
  #written = new Map<string, number>();
  /** The same of the last minute that had lines. */
  #before = new Map<string, number>();

  constructor(log: Log, monotonicMs: () => number = () => performance.now()) {
    this.#log = log;
    this.#monotonicMs = monotonicMs;
  }

  note(network: string, what: string): void {
    const minute = Math.floor(this.#monotonicMs() / MINUTE_MS);
    if (minute !== this.#minute) {
      this.#minute = minute;
      this.#before = this.#written;
      this.#written = new Map();
    }
    const more = this.#written.get(network);
    if (more !== undefined) this.#written.set(network, more + 1);
    else if (this.#written.size < MOST_LINES) {
      this.#written.set(network, 0);
      this.#log.warn({ network, notLogged: this.#before.get(network) ?? 0 }, what);
    }
  }
}

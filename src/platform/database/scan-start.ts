/**
 * Where the scans of a queue's table begin. Rows that a scan has deleted or moved stay in front of the next one until a
 * vacuum removes them, which a long transaction (a running backup) prevents. A process therefore begins behind them, and
 * from time to time at the start: others may have inserted rows before its position.
 */

/** Scans from the start take at most a twentieth of the time, unless one takes longer than MOST_KEPT_MS / 20. */
const WHOLE_PART = 20;
/** A row before the position waits this long at most. */
const MOST_KEPT_MS = 60_000;

export class ScanStart<Position> {
  readonly #now: () => number;
  #position: Position | undefined;
  #wholeAt = 0;

  /** @param now in milliseconds */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /**
   * Runs a scan.
   * @param read reads from the position, or without one from the start; returns what it found, and where the next scan may
   *   begin: undefined if it found nothing
   */
  async scan<Found>(
    read: (from: Position | undefined) => Promise<readonly [Found, Position | undefined]>,
  ): Promise<Found> {
    const startedAt = this.#now();
    const from = startedAt < this.#wholeAt ? this.#position : undefined;
    try {
      const [found, position] = await read(from);
      this.#position = position ?? this.#position;
      return found;
    } finally {
      // Also after a failure: otherwise all scans would begin at the start if those from there exceed their deadline.
      if (from === undefined) this.#noteWhole(startedAt);
    }
  }

  #noteWhole(startedAt: number): void {
    const now = this.#now();
    this.#wholeAt = now + Math.min((now - startedAt) * WHOLE_PART, MOST_KEPT_MS);
  }
}

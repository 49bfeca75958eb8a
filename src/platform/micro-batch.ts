/**
 * Micro-batches without a timer: a single item is flushed at once, and items that arrive during a flush share the next
 * one. Acceptance, tracking and the results of the delivery worker are written this way.
 */

export interface MicroBatchOptions<Item, Flushed> {
  /**
   * Handles one batch and all failures of it; must not reject. While a flush waits to try again, the items that arrive
   * wait behind it.
   */
  readonly flush: (batch: readonly Item[]) => Promise<Flushed>;
  /**
   * How many of the waiting items the next batch takes: a maximum, or a function of the waiting items and of what the flush
   * that has just ended resolved to (undefined when an added item starts the batch).
   */
  readonly size: number | ((waiting: readonly Item[], flushed: Flushed | undefined) => number);
  /** Flushes under way at one time; 1 unless given. */
  readonly maxInFlight?: number;
  /** Items that must wait before a flush starts beside one that is under way; 1 unless given. */
  readonly minBeside?: number;
  /** Back pressure: `add` takes no more than this many waiting items. Unlimited unless given. */
  readonly maxWaiting?: number;
  /** True: the first flush starts in the next turn of the event loop, and includes all items added in this turn. */
  readonly startsNextTurn?: boolean;
}

export class MicroBatch<Item, Flushed = void> {
  readonly #options: MicroBatchOptions<Item, Flushed>;
  readonly #waiting: Item[] = [];
  #inFlight = 0;
  #isScheduled = false;
  /** Resolved when nothing waits and no flush is under way; null while no caller waits for that. */
  #idle: PromiseWithResolvers<void> | null = null;

  constructor(options: MicroBatchOptions<Item, Flushed>) {
    this.#options = options;
  }

  /** Items that no flush has taken yet, in the order in which they were added. */
  get waiting(): readonly Item[] {
    return this.#waiting;
  }

  /** Adds an item. False when the maximum number of items waits; the item is then not added. */
  add(item: Item): boolean {
    const { maxWaiting = Number.POSITIVE_INFINITY, startsNextTurn = false } = this.#options;
    if (this.#waiting.length >= maxWaiting) return false;
    this.#waiting.push(item);
    if (startsNextTurn && this.#inFlight === 0) this.#startNextTurn();
    else this.#start();
    return true;
  }

  /** Removes items that no flush has taken: all of them, or those that meet the condition. */
  remove(isRemoved: (item: Item) => boolean = () => true): Item[] {
    const removed: Item[] = [];
    for (const item of this.#waiting.splice(0)) (isRemoved(item) ? removed : this.#waiting).push(item);
    return removed;
  }

  /** Resolves when all items have been flushed. */
  flushed(): Promise<void> {
    if (this.#isIdle) return Promise.resolve();
    this.#idle ??= Promise.withResolvers();
    return this.#idle.promise;
  }

  get #isIdle(): boolean {
    return this.#waiting.length + this.#inFlight === 0;
  }

  #startNextTurn(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      this.#start();
    });
  }

  #start(flushed?: Flushed): void {
    const { size, maxInFlight = 1, minBeside = 1 } = this.#options;
    while (this.#inFlight < maxInFlight && this.#waiting.length >= (this.#inFlight === 0 ? 1 : minBeside)) {
      const count = typeof size === "number" ? size : size(this.#waiting, flushed);
      void this.#flush(this.#waiting.splice(0, count));
    }
  }

  async #flush(batch: readonly Item[]): Promise<void> {
    this.#inFlight += 1;
    const flushed = await this.#options.flush(batch);
    this.#inFlight -= 1;
    this.#start(flushed);
    if (!this.#isIdle) return;
    this.#idle?.resolve();
    this.#idle = null;
  }
}

/**
 * Offset pagination whose deep pages cost as much as the first. OFFSET walks over all entries before the page: 60 ms at the
 * end of a million. For an order that is paged deeply, the id of every thousandth row is cached as an anchor, and a page
 * starts from the nearest anchor.
 *
 * Anchors are valid for one revision of the counters, which changes with every change of the members, so a page is always
 * the one that OFFSET would give. While a list keeps changing, its deep pages use OFFSET.
 */

/** Where a page starts: `skip` rows after the row with the id `from`, or after the start of the order if it is null. */
export interface PageStart {
  readonly from: string | null;
  readonly skip: number;
}

/** Rows between two anchors. */
export const STRIDE = 1_000;
/** Pages before this offset use OFFSET: half a millisecond. */
const SHALLOW = 5_000;
/** Orders cached at a time, each at most a megabyte for ten million rows. */
const MOST_ORDERS = 100;
/** Shortest time between two reads of the anchors of an order that changes. */
const REREAD_MS = 10_000;

interface CachedOrder {
  readonly revision: number;
  readonly readAt: number;
  readonly anchors: Promise<readonly string[]>;
}

export class PageAnchors {
  readonly #orders = new Map<string, CachedOrder>();
  readonly #monotonicMs: () => number;

  constructor(monotonicMs: () => number = () => performance.now()) {
    this.#monotonicMs = monotonicMs;
  }

  /**
   * @param key names the order
   * @param revision of the order's rows
   * @param offset of the page's first row, from 0
   * @param readAnchors reads the ids of the rows 0, STRIDE, 2·STRIDE, …
   */
  async find(
    key: string,
    revision: number,
    offset: number,
    readAnchors: () => Promise<string[]>,
  ): Promise<PageStart> {
    const plainOffset = { from: null, skip: offset };
    if (offset < SHALLOW) return plainOffset;
    let order = this.#orders.get(key);
    if (order?.revision !== revision) {
      if (order !== undefined && this.#monotonicMs() - order.readAt < REREAD_MS) return plainOffset;
      order = { revision, readAt: this.#monotonicMs(), anchors: readAnchors() };
      // A failed read is not cached.
      order.anchors.catch(() => this.#orders.delete(key));
    }
    this.#cache(key, order);
    const ids = await order.anchors;
    const nearest = Math.min(Math.floor(offset / STRIDE), ids.length - 1);
    const from = ids[nearest];
    return from === undefined ? plainOffset : { from, skip: offset - nearest * STRIDE };
  }

  /** Makes it the most recent order, and drops the least recent one beyond MOST_ORDERS. */
  #cache(key: string, order: CachedOrder): void {
    this.#orders.delete(key);
    this.#orders.set(key, order);
    const oldest = this.#orders.size > MOST_ORDERS ? this.#orders.keys().next() : undefined;
    if (oldest?.value !== undefined) this.#orders.delete(oldest.value);
  }
}

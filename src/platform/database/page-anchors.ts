/**
 * Deep pages at the price of the first. OFFSET walks over all entries before the page: 60 ms at the end of a million.
 * So for an order that is paged deeply every thousandth id is remembered, and a page begins at the nearest of them.
 *
 * What is remembered holds for one revision of the counters, which rises with every change of the members, so a page is
 * always what OFFSET would give. While a list keeps changing, its deep pages are walked to as before.
 */

/** A page begins `skip` rows behind the row `from`, or behind the start of the order. */
export interface Position {
  readonly from: string | null;
  readonly skip: number;
}

export interface Positions {
  /**
   * Where the row number `offset` (from 0) of an order stands. `key` names the order, `revision` its state, and
   * `landmarks` reads the ids at 0, STRIDE, 2·STRIDE, … of it.
   */
  find(key: string, revision: number, offset: number, landmarks: () => Promise<string[]>): Promise<Position>;
}

/** Rows between two remembered ids. */
export const STRIDE = 1_000;
/** Pages up to here are walked to: half a millisecond. */
const SHALLOW = 5_000;
/** Orders remembered at a time, at most a megabyte each for ten million rows. */
const MOST_ORDERS = 100;
/** An order that changes more often than it is read is not worth reading from end to end again. */
const REST_MS = 10_000;

interface Remembered {
  readonly revision: number;
  readonly readAt: number;
  readonly landmarks: Promise<readonly string[]>;
}

export function createPositions(monotonicMs: () => number = () => performance.now()): Positions {
  const orders = new Map<string, Remembered>();

  const remember = (key: string, order: Remembered) => {
    orders.delete(key);
    orders.set(key, order);
    const oldest = orders.size > MOST_ORDERS ? orders.keys().next() : undefined;
    if (oldest?.value !== undefined) orders.delete(oldest.value);
  };

  return {
    async find(key, revision, offset, landmarks) {
      const walk = { from: null, skip: offset };
      if (offset < SHALLOW) return walk;
      let order = orders.get(key);
      if (order?.revision !== revision) {
        if (order !== undefined && monotonicMs() - order.readAt < REST_MS) return walk;
        order = { revision, readAt: monotonicMs(), landmarks: landmarks() };
        // A failed reading is not remembered.
        order.landmarks.catch(() => orders.delete(key));
      }
      remember(key, order);
      const ids = await order.landmarks;
      const nearest = Math.min(Math.floor(offset / STRIDE), ids.length - 1);
      const from = ids[nearest];
      return from === undefined ? walk : { from, skip: offset - nearest * STRIDE };
    },
  };
}

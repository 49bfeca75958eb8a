/** Lease orders of a worker, and leases, for tests of the queue. */
import type { LeasedMessage } from "#delivery/message/message.ts";
import type { LeaseOrder } from "#delivery/queue/lease-order.ts";
import { QueueCursor } from "#delivery/queue/queue-cursor.ts";
import type { Queryable } from "#platform/database/pool.ts";
import { newId } from "#platform/ids.ts";

/** The order of a new worker for ten urgent messages. `change` may replace every field. */
export function leaseOrder(change: Partial<LeaseOrder> = {}): LeaseOrder {
  return {
    workerId: newId(),
    priority: 0,
    limit: 10,
    bytes: 1_000_000,
    seconds: 60,
    saturated: [],
    ...change,
  };
}

/** The first lease of a worker, which begins with the first line and knows no positions. */
export function leaseMessages(db: Queryable, order: LeaseOrder): Promise<LeasedMessage[]> {
  return new QueueCursor().lease(db, order);
}

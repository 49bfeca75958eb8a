/** Lease orders of a worker, for tests of the queue. */
import type { LeaseOrder } from "#delivery/queue/lease-store.ts";
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

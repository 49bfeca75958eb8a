/** What a worker asks for, in tests that look at the queue themselves. */
import type { LeaseOrder } from "#delivery/queue/lease-store.ts";
import { newId } from "#platform/ids.ts";

/** A new worker's order for ten urgent messages; every field may be replaced. */
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

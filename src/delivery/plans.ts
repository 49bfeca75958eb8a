/**
 * How PostgreSQL plans the statements of a delivery process. They find their rows by keys, whatever the tables hold: those
 * with a name are planned once on a connection, and all of them by the indexes. Planned anew each time, as PostgreSQL
 * would on its own, a lease takes 2 ms to plan and about as much again to be carried out; planned once while the queue was
 * empty, it would read whole tables until their statistics are taken.
 */
import type { ConnectionSettings } from "#platform/database/pool.ts";

export const PLANS_BY_KEY: ConnectionSettings = {
  plan_cache_mode: "force_generic_plan",
  enable_seqscan: "off",
  // Up to PostgreSQL 17 a scan that cannot be avoided is priced so high that each lease would be compiled.
  jit: "off",
};

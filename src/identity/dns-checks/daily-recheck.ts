/** The loop of the daily re-check, which sending domains and tracking domains share. Safe to run on several machines. */
import type { Clock } from "#platform/clock.ts";
import { DAY_MS } from "#platform/time-units.ts";
import type { RecheckLease } from "./recheck-store.ts";

const RECHECK_EVERY_MS = DAY_MS;
/** Domains whose DNS is queried concurrently. */
const BATCH = 20;

/**
 * Leases due domains in batches and checks the domains of a batch concurrently, until no domain is due or `signal`
 * aborts.
 * @returns how many domains were checked
 */
export async function recheckDaily<Domain>(
  {
    clock,
    lease,
    check,
  }: {
    readonly clock: Clock;
    readonly lease: (due: RecheckLease) => Promise<readonly Domain[]>;
    readonly check: (domain: Domain) => Promise<void>;
  },
  signal: AbortSignal,
): Promise<number> {
  let checked = 0;
  while (!signal.aborted) {
    const now = clock.now();
    const dueBefore = new Date(now.getTime() - RECHECK_EVERY_MS);
    const due = await lease({ now, dueBefore, most: BATCH });
    await Promise.all(due.map(check));
    checked += due.length;
    if (due.length < BATCH) break;
  }
  return checked;
}

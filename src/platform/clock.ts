/** The time, injected, so that tests can stand at any moment. Leases use the database's clock instead. */
export interface Clock {
  /** The wall clock, which operators and time servers set forward and back. */
  now(): Date;
  /** Milliseconds that never step back: for whatever lasts so long in this process, such as the entries of a cache. */
  monotonicMs(): number;
}

/** Clocks of an installation's machines differ by less: whoever orders by what several of them wrote reckons with it. */
export const CLOCK_DIFFERENCE_SECONDS = 5;

export const systemClock: Clock = {
  now: () => new Date(),
  monotonicMs: () => performance.now(),
};

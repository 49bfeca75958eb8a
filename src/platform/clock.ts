/** The clock, injected so that tests can set it. Leases use the clock of the database instead. */
export interface Clock {
  /** The wall clock, which may be set forward and back. */
  now(): Date;
  /** Milliseconds that never go back: for durations within this process, such as the expiry of a cache. */
  monotonicMs(): number;
}

/** Assumed largest difference between the clocks of the machines of an installation. */
export const CLOCK_DIFFERENCE_SECONDS = 5;

export const systemClock: Clock = {
  now: () => new Date(),
  monotonicMs: () => performance.now(),
};

/** The time, injected, so that tests can stand at any moment. Leases use the database's clock instead. */
export interface Clock {
  now(): Date;
}

export const systemClock: Clock = { now: () => new Date() };

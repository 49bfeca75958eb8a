/** A clock that changes only when a test advances it. */
import type { Clock } from "#platform/clock.ts";

export interface StubClock extends Clock {
  /** Moves the time forward, or back with a negative number. */
  advance(milliseconds: number): void;
  set(time: Date): void;
}

export function stubClock(start = new Date()): StubClock {
  let time = start.getTime();
  let monotonic = 0;
  const move = (milliseconds: number) => {
    time += milliseconds;
    monotonic += Math.max(0, milliseconds);
  };
  return {
    now: () => new Date(time),
    monotonicMs: () => monotonic,
    advance: move,
    set: (moment) => move(moment.getTime() - time),
  };
}

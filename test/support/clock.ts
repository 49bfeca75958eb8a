/** A clock that stands still until a test moves it. */
import type { Clock } from "../../src/platform/clock.ts";

export interface StubClock extends Clock {
  /** Moves it forward (or, with a negative number, back). */
  advance(milliseconds: number): void;
  set(time: Date): void;
}

export function stubClock(start = new Date()): StubClock {
  let time = start.getTime();
  return {
    now: () => new Date(time),
    advance: (milliseconds) => {
      time += milliseconds;
    },
    set: (moment) => {
      time = moment.getTime();
    },
  };
}

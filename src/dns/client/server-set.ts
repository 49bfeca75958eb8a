/** The look-ups that ask the same servers: how many of them are under way, and which ones wait for a place. */
import type { LookUp } from "./look-up.ts";
import { Pace } from "./pace.ts";

export class ServerSet {
  readonly pace: Pace;
  /** Begun, and either answered soon or quiet before long. */
  readonly busy = new Set<LookUp>();
  /** In the order in which they came. */
  readonly waiting = new Set<LookUp>();

  constructor(places: number) {
    this.pace = new Pace(places);
  }

  get hasRoom(): boolean {
    return this.busy.size < this.pace.places;
  }

  get isIdle(): boolean {
    return this.busy.size === 0 && this.waiting.size === 0;
  }

  takeWaiting(): LookUp | undefined {
    const [first] = this.waiting;
    if (first !== undefined) this.waiting.delete(first);
    return first;
  }

  /** While the servers answer nothing, waiting for a place is in vain. */
  giveUpWaiting(): void {
    const waiting = [...this.waiting];
    this.waiting.clear();
    for (const lookUp of waiting) lookUp.giveUp();
  }
}

/** Converts local times of one time zone to moments. */
import { Temporal } from "temporal-polyfill";
import { DAY_MS } from "#platform/time-units.ts";

/** Days that are cached: more than a century. */
const MOST_DAYS = 40_000;

export class ZoneClock {
  readonly timeZone: string;
  /** Offset in milliseconds by day since 1970; null for a day near a clock change. */
  readonly #offsets = new Map<number, number | null>();

  /** @param timeZone IANA name */
  constructor(timeZone: string) {
    this.timeZone = timeZone;
  }

  /**
   * The moment of a local time, both in milliseconds since 1970. A time that is skipped when clocks go forward is moved
   * forward by the same amount; a time that occurs twice is the first (RFC 5545 section 3.3.5).
   */
  momentOf(local: number): number {
    if (this.timeZone === "UTC") return local;
    const offset = this.#offsetNear(Math.floor(local / DAY_MS));
    if (offset !== null) return local - offset;
    return Temporal.Instant.fromEpochMilliseconds(local)
      .toZonedDateTimeISO("UTC")
      .toPlainDateTime()
      .toZonedDateTime(this.timeZone, { disambiguation: "compatible" }).epochMilliseconds;
  }

  /** Cached by day: a file of a million times has some thousand days, and a look-up in the zone database is slow. */
  #offsetNear(day: number): number | null {
    const known = this.#offsets.get(day);
    if (known !== undefined) return known;
    const before = this.#offsetAt((day - 1) * DAY_MS);
    const offset = before === this.#offsetAt((day + 2) * DAY_MS) ? before : null;
    if (this.#offsets.size >= MOST_DAYS) this.#offsets.clear();
    this.#offsets.set(day, offset);
    return offset;
  }

  #offsetAt(moment: number): number {
    const { offsetNanoseconds } = Temporal.Instant.fromEpochMilliseconds(moment).toZonedDateTimeISO(
      this.timeZone,
    );
    return offsetNanoseconds / 1_000_000;
  }
}

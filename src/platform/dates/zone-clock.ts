/** The clocks of one time zone: which moment a local time is. */
import { Temporal } from "temporal-polyfill";

const DAY_MS = 86_400_000;
/** A century of days, and more. */
const MOST_DAYS = 40_000;

export class ZoneClock {
  readonly timeZone: string;
  /** The zone's offset by day since 1970, in milliseconds; null for a day near a change of the clocks. */
  readonly #offsets = new Map<number, number | null>();

  /** @param timeZone IANA name */
  constructor(timeZone: string) {
    this.timeZone = timeZone;
  }

  /**
   * The moment of a local time, both in milliseconds since 1970. A time that does not exist, because clocks are put forward,
   * moves forward by the same step; of a time that comes twice the first one is meant (RFC 5545 section 3.3.5).
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

  /** A file of a million times has some thousand days: the database of zones is asked once for each. */
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

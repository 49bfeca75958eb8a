/** Times as a clock on the wall shows them: `2026-12-01T09:00` in a zone, and the moment that it is. */
import { counted } from "../../../parts/numbers.ts";

/** `Tue 1 Dec 2026, 09:00 Europe/Berlin` */
export function inZone(at: string | number, zone: string): string {
  const text = new Intl.DateTimeFormat("en-GB", {
    weekday: "short",
    day: "numeric",
    month: "short",
    year: "numeric",
    hour: "2-digit",
    minute: "2-digit",
    timeZone: zone,
  }).format(new Date(at));
  return `${text} ${zone}`;
}

/** What a clock in the zone shows at a moment. */
export function wallTime(at: number, zone: string): string {
  return new Date(at + offsetOf(at, zone)).toISOString().slice(0, 16);
}

/** The moment at which a clock in the zone shows this; only to show it elsewhere, the service reads such a time itself. */
export function momentOf(wall: string, zone: string): number | undefined {
  const asUtc = Date.parse(`${wall}Z`);
  if (Number.isNaN(asUtc)) return undefined;
  // The offset may be another one at the first guess, when clocks change between the two.
  const guess = asUtc - offsetOf(asUtc, zone);
  return asUtc - offsetOf(guess, zone);
}

function offsetOf(at: number, zone: string): number {
  const parts = new Intl.DateTimeFormat("en-US", {
    year: "numeric",
    month: "numeric",
    day: "numeric",
    hour: "numeric",
    minute: "numeric",
    second: "numeric",
    hourCycle: "h23",
    timeZone: zone,
  }).formatToParts(at);
  const part = (type: Intl.DateTimeFormatPartTypes) => Number(parts.find((one) => one.type === type)?.value);
  const shown = Date.UTC(
    part("year"),
    part("month") - 1,
    part("day"),
    part("hour"),
    part("minute"),
    part("second"),
  );
  return shown - Math.floor(at / 1_000) * 1_000;
}

/** How long something takes: `40 seconds`, `3 hours 20 minutes`. */
export function durationText(seconds: number): string {
  if (seconds < 60) return counted(Math.max(1, Math.round(seconds)), "second");
  const minutes = Math.round(seconds / 60);
  const units = [
    counted(Math.floor(minutes / 1_440), "day"),
    counted(Math.floor((minutes % 1_440) / 60), "hour"),
    counted(minutes % 60, "minute"),
  ];
  return units
    .filter((text) => !text.startsWith("0 "))
    .slice(0, 2)
    .join(" ");
}

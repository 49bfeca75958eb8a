/** Times as campaigns show and take them: moments, what a clock in a zone shows then, and how long something takes. */
import { counted } from "../../parts/numbers.ts";

const DAY_MS = 86_400_000;

/**
 * The moment of a clock's time such as `2026-12-01T09:00`. As in the API, a time that is skipped when clocks go forward moves by the
 * same step, and of one that occurs twice the first counts.
 */
export function momentOf(wall: string, zone: string): string {
  const asUtc = Date.parse(`${wall}Z`);
  const former = asUtc - offsetAt(asUtc - DAY_MS, zone);
  const later = asUtc - offsetAt(asUtc + DAY_MS, zone);
  const right = [former, later].filter((one) => wallOf(new Date(one).toISOString(), zone) === wall);
  return new Date(right.length === 0 ? former : Math.min(...right)).toISOString();
}

/** What a clock in the zone shows: `2026-12-01T09:00`. */
export function wallOf(moment: string, zone: string): string {
  const at = Date.parse(moment);
  return new Date(at + offsetAt(at, zone)).toISOString().slice(0, 16);
}

/** `Tue 1 Dec 2026, 09:00 Europe/Berlin` */
export function inZone(moment: string, zone: string): string {
  const text = new Intl.DateTimeFormat("en-GB", {
    weekday: "short",
    day: "numeric",
    month: "short",
    year: "numeric",
    hour: "2-digit",
    minute: "2-digit",
    timeZone: zone,
  }).format(new Date(moment));
  return `${text} ${zone}`;
}

/** A time that is past, although the service's clock may be a second ahead of this one. */
export function pastOf(moment: string): string {
  return new Date(Math.min(Date.parse(moment), Date.now())).toISOString();
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

/** Milliseconds that clocks of the zone are ahead of UTC. */
function offsetAt(at: number, zone: string): number {
  const format = new Intl.DateTimeFormat("en-US", {
    timeZone: zone,
    hourCycle: "h23",
    year: "numeric",
    month: "numeric",
    day: "numeric",
    hour: "numeric",
    minute: "numeric",
    second: "numeric",
  });
  const part = Object.fromEntries(format.formatToParts(at).map(({ type, value }) => [type, Number(value)]));
  const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = part;
  return Date.UTC(year, month - 1, day, hour, minute, second) - Math.floor(at / 1_000) * 1_000;
}

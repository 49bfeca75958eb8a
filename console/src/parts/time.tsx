/** Times: near ones relative, all with the absolute time and its zone for reading, copying and screen readers. */
import { createContext, useContext, useSyncExternalStore } from "react";

const steps: readonly (readonly [Intl.RelativeTimeFormatUnit, number])[] = [
  ["second", 60],
  ["minute", 3_600],
  ["hour", 86_400],
];
const SECONDS_OF: Readonly<Record<string, number>> = { second: 1, minute: 60, hour: 3_600 };

const relativeFormat = new Intl.RelativeTimeFormat("en", { style: "short", numeric: "auto" });
const looks = {
  precise: { dateStyle: "medium", timeStyle: "long" },
  day: { day: "numeric", month: "short", hour: "2-digit", minute: "2-digit" },
  year: { year: "numeric" },
  otherYear: { day: "numeric", month: "short", year: "numeric" },
} as const;

/** A format takes the browser longer to make than all else in a row of a table: each is made once for a zone. */
class Formats {
  readonly #made = new Map<string, Intl.DateTimeFormat>();

  of(look: keyof typeof looks, timeZone: string): Intl.DateTimeFormat {
    const key = `${look} ${timeZone}`;
    const made = this.#made.get(key) ?? new Intl.DateTimeFormat("en-GB", { ...looks[look], timeZone });
    this.#made.set(key, made);
    return made;
  }
}

const formats = new Formats();

class Minutes {
  #now = Date.now();
  readonly #listeners = new Set<() => void>();
  #timer: ReturnType<typeof setInterval> | undefined;

  readonly now = () => this.#now;

  readonly subscribe = (listener: () => void) => {
    this.#listeners.add(listener);
    this.#timer ??= setInterval(() => this.#tick(), 15_000);
    return () => {
      this.#listeners.delete(listener);
      if (this.#listeners.size > 0) return;
      clearInterval(this.#timer);
      this.#timer = undefined;
    };
  };

  #tick() {
    this.#now = Date.now();
    for (const listener of this.#listeners) listener();
  }
}

const minutes = new Minutes();

/** The zone that this browser is set to. */
export const browserZone = Intl.DateTimeFormat().resolvedOptions().timeZone;
const ZoneContext = createContext(browserZone);
/** The zone in which times are shown below it; elsewhere that of the browser. */
export const ZoneProvider = ZoneContext.Provider;

export function useZone(): string {
  return useContext(ZoneContext);
}

export function Time({ at, isPrecise = false }: { readonly at: string; readonly isPrecise?: boolean }) {
  const zone = useZone();
  const now = useSyncExternalStore(minutes.subscribe, minutes.now);
  const time = new Date(at);
  const precise = formats.of("precise", zone).format(time);
  return (
    <time dateTime={at} title={precise} className="whitespace-nowrap">
      {isPrecise ? precise : (relative(time, now) ?? dayOf(time, zone, now))}
    </time>
  );
}

/** Such as "3 min. ago", within 24 hours. */
function relative(time: Date, now: number): string | undefined {
  const seconds = Math.round((time.getTime() - Math.max(now, Date.now())) / 1_000);
  const step = steps.find(([, limit]) => Math.abs(seconds) < limit);
  if (step === undefined) return undefined;
  const [unit] = step;
  return relativeFormat.format(Math.trunc(seconds / (SECONDS_OF[unit] ?? 1)), unit);
}

function dayOf(time: Date, zone: string, now: number): string {
  const yearOf = (date: Date) => formats.of("year", zone).format(date);
  const isThisYear = yearOf(time) === yearOf(new Date(now));
  return formats.of(isThisYear ? "day" : "otherYear", zone).format(time);
}

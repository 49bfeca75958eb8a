/** Times: near ones relative, all with the absolute time and its zone for reading, copying and screen readers. */
import { useSyncExternalStore } from "react";
import { useSession } from "../api/session.tsx";

const steps: readonly (readonly [Intl.RelativeTimeFormatUnit, number])[] = [
  ["second", 60],
  ["minute", 3_600],
  ["hour", 86_400],
];
const SECONDS_OF: Readonly<Record<string, number>> = { second: 1, minute: 60, hour: 3_600 };

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

export function useZone(): string {
  return useSession()?.person.timezone ?? Intl.DateTimeFormat().resolvedOptions().timeZone;
}

export function Time({ at, isPrecise = false }: { readonly at: string; readonly isPrecise?: boolean }) {
  const zone = useZone();
  const now = useSyncExternalStore(minutes.subscribe, minutes.now);
  const time = new Date(at);
  const precise = new Intl.DateTimeFormat("en-GB", {
    dateStyle: "medium",
    timeStyle: "long",
    timeZone: zone,
  }).format(time);
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
  const format = new Intl.RelativeTimeFormat("en", { style: "short", numeric: "auto" });
  return format.format(Math.trunc(seconds / (SECONDS_OF[unit] ?? 1)), unit);
}

function dayOf(time: Date, zone: string, now: number): string {
  const isThisYear = time.getFullYear() === new Date(now).getFullYear();
  return new Intl.DateTimeFormat("en-GB", {
    day: "numeric",
    month: "short",
    ...(isThisYear ? { hour: "2-digit", minute: "2-digit" } : { year: "numeric" }),
    timeZone: zone,
  }).format(time);
}

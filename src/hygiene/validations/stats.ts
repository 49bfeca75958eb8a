/** Counts by day, with the days on which nothing was validated. Days are those of UTC. */
import type { ValidationStatus } from "./score.ts";

const DAY_MS = 86_400_000;

/** The names that statuses have in statistics. */
export const counterNames = {
  valid: "valid",
  invalid: "invalid",
  "catch-all": "catch_all",
  disposable: "disposable",
  "role-based": "role_based",
  unknown: "unknown",
} as const satisfies Record<ValidationStatus, string>;

export type StatusTotals = Readonly<Record<"total" | (typeof counterNames)[ValidationStatus], number>>;

const nothing: StatusTotals = {
  total: 0,
  valid: 0,
  invalid: 0,
  catch_all: 0,
  disposable: 0,
  role_based: 0,
  unknown: 0,
};

/** The beginning of the first of so many days, of which today is the last. */
export function firstDay(now: Date, days: number): Date {
  return new Date(now.getTime() - (now.getTime() % DAY_MS) - (days - 1) * DAY_MS);
}

/** @param rows with days as YYYY-MM-DD; those outside of the window count for nothing */
export function countDays(
  rows: readonly { readonly day: string; readonly status: ValidationStatus; readonly count: number }[],
  since: Date,
  days: number,
): { readonly totals: StatusTotals; readonly daily: (StatusTotals & { readonly date: string })[] } {
  const byDay = Map.groupBy(rows, ({ day }) => day);
  const daily = Array.from({ length: days }, (_, at) => {
    const date = new Date(since.getTime() + at * DAY_MS).toISOString().slice(0, 10);
    return {
      date,
      ...sumOf((byDay.get(date) ?? []).map(({ status, count }) => [counterNames[status], count])),
    };
  });
  const totals = sumOf(
    daily.flatMap((day) => Object.values(counterNames).map((name) => [name, day[name]] as const)),
  );
  return { totals, daily };
}

function sumOf(parts: readonly (readonly [name: keyof StatusTotals, count: number])[]): StatusTotals {
  const sums: Record<keyof StatusTotals, number> = { ...nothing };
  for (const [name, count] of parts) {
    sums[name] += count;
    sums.total += count;
  }
  return sums;
}

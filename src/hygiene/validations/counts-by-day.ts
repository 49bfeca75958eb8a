/** Counts of validation results by day (UTC). */

import { DAY_MS } from "#platform/time-units.ts";
import type { ValidationStatus } from "./score.ts";

/** The field of the statistics that counts a status. */
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

/** The beginning (UTC) of the first of `days` days, of which today is the last. */
export function firstDay(now: Date, days: number): Date {
  return new Date(now.getTime() - (now.getTime() % DAY_MS) - (days - 1) * DAY_MS);
}

/** Counts by day, including days without rows. @param rows with days as YYYY-MM-DD; others than the window's are ignored */
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

/** Counts by day, with the days on which nothing was validated. Days are those of UTC. */
import type { Status } from "./verdict.ts";

const DAY_MS = 86_400_000;

/** The names that statuses have in statistics. */
export const names = {
  valid: "valid",
  invalid: "invalid",
  "catch-all": "catch_all",
  disposable: "disposable",
  "role-based": "role_based",
  unknown: "unknown",
} as const satisfies Record<Status, string>;

export type Counts = Readonly<Record<"total" | (typeof names)[Status], number>>;

const nothing: Counts = {
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
  rows: readonly { readonly day: string; readonly status: Status; readonly count: number }[],
  since: Date,
  days: number,
): { readonly totals: Counts; readonly daily: (Counts & { readonly date: string })[] } {
  const byDay = Map.groupBy(rows, ({ day }) => day);
  const daily = Array.from({ length: days }, (_, at) => {
    const date = new Date(since.getTime() + at * DAY_MS).toISOString().slice(0, 10);
    return { date, ...sumOf((byDay.get(date) ?? []).map(({ status, count }) => [names[status], count])) };
  });
  const totals = sumOf(
    daily.flatMap((day) => Object.values(names).map((name) => [name, day[name]] as const)),
  );
  return { totals, daily };
}

function sumOf(parts: readonly (readonly [name: keyof Counts, count: number])[]): Counts {
  const sums: Record<keyof Counts, number> = { ...nothing };
  for (const [name, count] of parts) {
    sums[name] += count;
    sums.total += count;
  }
  return sums;
}

/**
 * The warm-up schedule of a new source address: a daily quota for each mailbox provider, which rises with each day on which mail
 * was sent. The day is repeated for a provider that defers too much of it. The figures follow SendGrid's published schedule.
 */
import { DAY_MS } from "#platform/time-units.ts";

const PLAN: readonly number[] = [
  50, 100, 250, 500, 1_000, 2_500, 5_000, 7_500, 10_000, 15_000, 20_000, 30_000, 40_000, 55_000, 70_000,
  100_000,
];
const GROWTH = 1.5;
/** The quota stops growing here. */
const HIGHEST = 1_000_000_000;
/** The part of a day's mail that may be deferred for reputation. */
const MOST_DEFERRED = 0.05;
/** After this many days without mail the schedule restarts: receivers have forgotten the address. */
const IDLE_DAYS = 30;
/** The part of the quota that is reserved for transactional mail. */
const TRANSACTIONAL_SHARE = 0.1;

/** The progress of one address with one lane. */
export interface LaneWarmUp {
  readonly started_at: Date;
  /** In UTC, such as "2026-11-21". */
  readonly day: string;
  /** Completed days of the schedule. */
  readonly step: number;
  readonly reserved: number;
  readonly sent: number;
  readonly deferred: number;
}

export function dayOf(time: Date): string {
  return time.toISOString().slice(0, 10);
}

/** Milliseconds until the next day begins. */
export function untilTomorrow(time: Date): number {
  return DAY_MS - (time.getTime() % DAY_MS);
}

/** The quota of the day after `step` completed days. */
export function ceilingOf(step: number): number {
  const planned = PLAN[step];
  if (planned !== undefined) return planned;
  const last = PLAN[PLAN.length - 1] ?? 0;
  return Math.min(HIGHEST, Math.round(last * GROWTH ** (step - PLAN.length + 1)));
}

/** The part of the quota that bulk mail may use. */
export function bulkCeilingOf(step: number): number {
  return ceilingOf(step) - Math.ceil(ceilingOf(step) * TRANSACTIONAL_SHARE);
}

/** The progress on a day. Days without mail do not count; more than 30 of them, or a restarted warm-up, restart the schedule. */
export function onDay(before: LaneWarmUp | undefined, startedAt: Date, day: string): LaneWarmUp {
  const fresh = { started_at: startedAt, day, reserved: 0, sent: 0, deferred: 0 };
  if (before === undefined || before.started_at.getTime() !== startedAt.getTime())
    return { ...fresh, step: 0 };
  // The clock of this machine is behind that of another.
  if (day <= before.day) return before;
  const idleDays = (Date.parse(day) - Date.parse(before.day)) / DAY_MS;
  return { ...fresh, step: idleDays > IDLE_DAYS ? 0 : nextStep(before) };
}

function nextStep({ step, sent, deferred }: LaneWarmUp): number {
  return sent === 0 || deferred / sent > MOST_DEFERRED ? step : step + 1;
}

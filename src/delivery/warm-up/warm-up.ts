/**
 * How fast a new address may begin to send: so many messages a day to each mailbox provider, more on each day with mail
 * (mail-practice section 13, the plan of SendGrid's practice). A provider that puts off too much repeats its day.
 */
const PLAN: readonly number[] = [
  50, 100, 250, 500, 1_000, 2_500, 5_000, 7_500, 10_000, 15_000, 20_000, 30_000, 40_000, 55_000, 70_000,
  100_000,
];
const GROWTH = 1.5;
/** Beyond this a ceiling means nothing any more. */
const HIGHEST = 1_000_000_000;
/** Share of a day's mail that may be put off for our reputation. */
const MOST_DEFERRED = 0.05;
/** Receivers forget an address that is silent. */
const IDLE_DAYS = 30;
/** Kept for transactional mail. */
const TRANSACTIONAL_SHARE = 0.1;
const DAY_MS = 24 * 3_600_000;

/** How far one address is with one lane. */
export interface LaneWarmUp {
  readonly started_at: Date;
  /** UTC, "2026-11-21". */
  readonly day: string;
  /** Days of the plan that lie behind it. */
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

/** Messages of one day, by how many days of the plan lie behind it. */
export function ceilingOf(step: number): number {
  const planned = PLAN[step];
  if (planned !== undefined) return planned;
  const last = PLAN[PLAN.length - 1] ?? 0;
  return Math.min(HIGHEST, Math.round(last * GROWTH ** (step - PLAN.length + 1)));
}

/** Up to where bulk mail goes: the rest of the day is transactional mail's. */
export function bulkCeilingOf(step: number): number {
  return ceilingOf(step) - Math.ceil(ceilingOf(step) * TRANSACTIONAL_SHARE);
}

/** Where it stands on a day. A day without mail is not counted; thirty of them, or a warm-up begun anew, begin the plan anew. */
export function onDay(before: LaneWarmUp | undefined, startedAt: Date, day: string): LaneWarmUp {
  const fresh = { started_at: startedAt, day, reserved: 0, sent: 0, deferred: 0 };
  if (before === undefined || before.started_at.getTime() !== startedAt.getTime())
    return { ...fresh, step: 0 };
  // A machine whose clock is behind still lives yesterday.
  if (day <= before.day) return before;
  const idleDays = (Date.parse(day) - Date.parse(before.day)) / DAY_MS;
  return { ...fresh, step: idleDays > IDLE_DAYS ? 0 : nextStep(before) };
}

function nextStep({ step, sent, deferred }: LaneWarmUp): number {
  return sent === 0 || deferred / sent > MOST_DEFERRED ? step : step + 1;
}

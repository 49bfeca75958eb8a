/** The mails of a series for one person: those that were sent, and when the others come or would come. */
import { Temporal } from "temporal-polyfill";
import { timeOfId } from "#platform/ids.ts";
import { DAY_MS, MINUTE_MS } from "#platform/time-units.ts";
import { type DayClock, momentOf } from "#sending/autoresponders/trigger-days.ts";
import type { WalkerRow } from "./progress-store.ts";
import type { obstacles } from "./shapes.ts";

type Obstacle = (typeof obstacles)[number];

/** No person gets mail on later days, and twenty delays of ten years would leave the years with four digits. */
const LATEST = "9700-01-01";

export interface WalkStep {
  readonly id: string;
  readonly subject: string;
  readonly delay_minutes: number;
}

/** How the series begins; `dayClock` is null if it begins with joining. */
export interface WalkTrigger {
  readonly dayClock: DayClock | null;
  readonly isYearly: boolean;
}

/**
 * @param steps in their order
 * @param nextSteps the result of findNextSteps
 */
export function walkThrough(
  person: WalkerRow,
  steps: readonly WalkStep[],
  trigger: WalkTrigger,
  nextSteps: ReadonlyMap<string, string | null>,
  now: Date,
) {
  const next = nextSteps.get(person.next_step_id ?? "") ?? null;
  const isWaiting = next !== null;
  // A person who left after the round and came back is at the beginning again.
  const hasRound = isWaiting || person.continues;
  const start = nextStart(person, trigger, now);
  const progress = isWaiting ? "waiting" : hasRound ? "finished" : "not_started";
  const sent = new Map(hasRound ? person.mails.map((mail) => [mail.step_id, mail.message_id]) : []);
  const place = isWaiting ? steps.findIndex(({ id }) => id === next) : hasRound ? steps.length : 0;
  // The delay of the step that a person waits for is part of the time when it is due.
  let due = isWaiting ? latest(person.due_at, now) : start;
  const mails = steps.map(({ id, subject, delay_minutes: delay }, at) => {
    const step = { step_id: id, position: at + 1, subject };
    const message_id = sent.get(id) ?? null;
    if (message_id !== null) return { ...step, state: "sent" as const, at: timeOfId(message_id), message_id };
    if (at < place) return { ...step, state: "skipped" as const, at: null, message_id };
    if (due !== null && id !== next) due = new Date(due.getTime() + delay * MINUTE_MS);
    return { ...step, state: "planned" as const, at: due, message_id };
  });
  return {
    progress,
    started_at: hasRound ? person.occasion : null,
    next_start_at: isWaiting || (hasRound && trigger.dayClock === null) ? null : start,
    obstacle: progress === "finished" ? null : obstacleOf(person, trigger, isWaiting, start),
    mails,
  } as const;
}

/** When the series would begin: now, as if the person joined now, or on the next day; null without a day that comes. */
function nextStart({ date }: WalkerRow, { dayClock, isYearly }: WalkTrigger, now: Date): Date | null {
  if (dayClock === null) return now;
  if (date === null) return null;
  const earliest = new Date(now.getTime() - 2 * DAY_MS).toISOString().slice(0, 10);
  const days = (isYearly ? yearlyDays(date, now) : [date]).filter((day) => day >= earliest && day < LATEST);
  return days.map((day) => momentOf(day, dayClock)).find((moment) => moment > now) ?? null;
}

/** The days on which a yearly date comes next, from its own year on. */
function yearlyDays(date: string, now: Date): string[] {
  const year = now.getUTCFullYear();
  const years = [year - 1, year, year + 1, Number(date.slice(0, 4))];
  return years.map((one) => dayIn(one, date.slice(5))).filter((day) => day >= date);
}

/** The day of a year that has this anniversary (`MM-DD`): 28 February for the 29th in years without it. */
function dayIn(year: number, monthDay: string): string {
  const [month = 1, day = 1] = monthDay.split("-").map(Number);
  return Temporal.PlainDate.from({ year, month, day }, { overflow: "constrain" }).toString();
}

function obstacleOf(
  { subscribed_at, cause, continues, date }: WalkerRow,
  { dayClock }: WalkTrigger,
  isWaiting: boolean,
  start: Date | null,
): Obstacle | null {
  if (isWaiting && !continues) return "left";
  if (subscribed_at === null) return "not_a_member";
  if (cause !== null) return cause;
  if (isWaiting || dayClock === null || start !== null) return null;
  return date === null ? "no_date" : "date_has_passed";
}

function latest(due: Date | null, now: Date): Date {
  return due === null || due < now ? now : due;
}

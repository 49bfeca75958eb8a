/** Conditions on times and days. A day without a time starts at midnight in the workspace's time zone. */
import sql, { type Sql } from "sql-template-tag";
import { Temporal } from "temporal-polyfill";
import { DateReader, dateFaults } from "#platform/dates/date-reader.ts";
import { DAY_MS } from "#platform/time-units.ts";
import { and, type Predicate } from "./combine-predicates.ts";
import { kind, type Moment, not, type Operator, presence } from "./operator.ts";

/** Bounds of a time: `from` and `to` are inclusive, `after` and `before` exclusive. */
export interface TimeRange {
  readonly from?: Date;
  readonly after?: Date;
  readonly before?: Date;
  readonly to?: Date;
}

/** Whether the value in the row is within these bounds. */
export type DateSource = (range: TimeRange) => Predicate;

type DateOperator = Operator<Date, DateSource>;

/** The first date that can be stored has the year 0001. */
const BEFORE_ALL = new Date("0000-01-01T00:00:00Z");
/** Longest number of days in a rule: a century. */
export const MOST_DAYS = 36_500;

const within = (range: TimeRange) => ({
  sql: (isWithin: DateSource) => isWithin(range),
  holds: (held: Date) =>
    (range.from === undefined || held >= range.from) &&
    (range.after === undefined || held > range.after) &&
    (range.before === undefined || held < range.before) &&
    (range.to === undefined || held <= range.to),
});

const since = (bound: "before" | "after"): DateOperator => ({
  takes: { type: "date", is_array: false },
  read(value, { timeZone }) {
    const dates = new DateReader({ timeZone });
    const moment = dates.readMoment(value);
    if (moment !== undefined) return within({ [bound]: moment });
    const reading = dates.read(value);
    return dateFaults[reading.kind === "fault" ? reading.fault : "unreadable"];
  },
});

const inLastDays: DateOperator = {
  takes: { type: "days", is_array: false, minimum: 1, maximum: MOST_DAYS },
  read(days, { now }) {
    const isCount = typeof days === "number" && Number.isInteger(days) && days >= 1 && days <= MOST_DAYS;
    return isCount
      ? within({ from: new Date(now.getTime() - days * DAY_MS), to: now })
      : `must be a whole number of days from 1 to ${MOST_DAYS}`;
  },
};

export const dateKind = kind<Date, DateSource>("date", "a date", {
  before: since("before"),
  after: since("after"),
  in_last_days: inLastDays,
  not_in_last_days: not(inLastDays),
  ...presence(within({ from: BEFORE_ALL })),
});

/** The first moment of a day, which a change of the clock may move away from midnight. */
function startOf(day: Temporal.PlainDate, timeZone: string): Date {
  return new Date(day.toZonedDateTime(timeZone).epochMilliseconds);
}

function dayOf(moment: Date, timeZone: string): Temporal.PlainDate {
  return Temporal.Instant.fromEpochMilliseconds(moment.getTime()).toZonedDateTimeISO(timeZone).toPlainDate();
}

/** A column of the type timestamptz. */
export function columnDates(column: Sql): DateSource {
  return (range) =>
    bounded(range, {
      from: (moment) => sql`${column} >= ${moment}::timestamptz`,
      after: (moment) => sql`${column} > ${moment}::timestamptz`,
      before: (moment) => sql`${column} < ${moment}::timestamptz`,
      to: (moment) => sql`${column} <= ${moment}::timestamptz`,
    });
}

/**
 * A date in the row's custom fields, stored as `YYYY-MM-DD` or as an instant in UTC with milliseconds
 * (custom-fields/field-types.ts). Both are compared as text, so that a malformed value causes no error.
 */
export function customDates(name: string, { timeZone }: Moment): DateSource {
  const held = sql`(s.custom_fields ->> ${name}::text) collate "C"`;
  const dayText = (day: Temporal.PlainDate) => comparable(day.toString());
  const instantText = (moment: Date) => comparable(moment.toISOString());
  /** The first day that starts at or after the moment. */
  const firstFrom = (moment: Date) => {
    const day = dayOf(moment, timeZone);
    return startOf(day, timeZone) < moment ? day.add({ days: 1 }) : day;
  };
  return (range) => {
    const ofDay = bounded(range, {
      from: (moment) => sql`${held} >= ${dayText(firstFrom(moment))}`,
      after: (moment) => sql`${held} > ${dayText(dayOf(moment, timeZone))}`,
      before: (moment) => sql`${held} < ${dayText(firstFrom(moment))}`,
      to: (moment) => sql`${held} <= ${dayText(dayOf(moment, timeZone))}`,
    });
    const ofInstant = bounded(range, {
      from: (moment) => sql`${held} >= ${instantText(moment)}`,
      after: (moment) => sql`${held} > ${instantText(moment)}`,
      before: (moment) => sql`${held} < ${instantText(moment)}`,
      to: (moment) => sql`${held} <= ${instantText(moment)}`,
    });
    return sql`case when ${held} like '____-__-__' then ${ofDay}
      when ${held} like '____-__-__T__:__:__.___Z' then ${ofInstant} end`;
  };
}

/** ISO 8601 writes years above 9999 as `+010000`, which would sort before all others as text. */
const comparable = (iso: string) => (iso.startsWith("+") ? "~" : iso);

function bounded(
  range: TimeRange,
  bounds: Readonly<Record<keyof TimeRange, (moment: Date) => Sql>>,
): Predicate {
  return and([
    range.from === undefined || bounds.from(range.from),
    range.after === undefined || bounds.after(range.after),
    range.before === undefined || bounds.before(range.before),
    range.to === undefined || bounds.to(range.to),
  ]);
}

const heldDay = /^\d{4}-\d{2}-\d{2}$/;
const heldInstant = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/;

/** The time of a stored custom date; undefined for a value that is not a date. */
export function heldDate(value: unknown, { timeZone }: Moment): Date | undefined {
  if (typeof value !== "string") return undefined;
  if (heldDay.test(value)) return startOf(Temporal.PlainDate.from(value), timeZone);
  return heldInstant.test(value) ? new Date(value) : undefined;
}

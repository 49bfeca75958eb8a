/** The delay of a step: days, hours and minutes in the API, minutes in the table. A day is 24 hours. */
import { type Static, Type } from "typebox";
import { invalid } from "#platform/errors.ts";

const MINUTES_OF_HOUR = 60;
const MINUTES_OF_DAY = 24 * MINUTES_OF_HOUR;
const MOST_DAYS = 3_650;
const MOST_MINUTES = MOST_DAYS * MINUTES_OF_DAY;

const part = (maximum: number, description: string) =>
  Type.Optional(Type.Integer({ minimum: 0, maximum, default: 0, description }));

export const Delay = Type.Object(
  {
    days: part(MOST_DAYS, "Days of 24 hours."),
    hours: part(MOST_DAYS * 24, "Hours, beside the days."),
    minutes: part(MOST_MINUTES, "Minutes, beside days and hours."),
  },
  {
    $id: "Delay",
    additionalProperties: false,
    description: "The first step counts from the trigger, every other from the step before it.",
  },
);
export type Delay = Static<typeof Delay>;

/** @throws ApiError VALIDATION_ERROR for more than ten years */
export function minutesOf({ days = 0, hours = 0, minutes = 0 }: Delay, field: string): number {
  const sum = days * MINUTES_OF_DAY + hours * MINUTES_OF_HOUR + minutes;
  if (sum > MOST_MINUTES)
    throw invalid({ field, message: `${field} must not be longer than ${MOST_DAYS} days` });
  return sum;
}

export function delayOf(minutes: number): Required<Delay> {
  return {
    days: Math.floor(minutes / MINUTES_OF_DAY),
    hours: Math.floor((minutes % MINUTES_OF_DAY) / MINUTES_OF_HOUR),
    minutes: minutes % MINUTES_OF_HOUR,
  };
}

/** Whole days, as callers write them and as a time zone has them. */
import { Temporal } from "temporal-polyfill";
import { Type } from "typebox";
import { invalid } from "#platform/errors.ts";
import type { QueryField } from "./query.ts";

/** YYYY-MM-DD, or undefined when absent; anything else is refused. */
export function dayField(description: string): QueryField<Temporal.PlainDate | undefined> {
  return {
    schema: Type.String({ format: "date", description }),
    read(text, name) {
      if (text === undefined || text === "") return undefined;
      try {
        if (/^\d{4}-\d\d-\d\d$/.test(text)) return Temporal.PlainDate.from(text);
      } catch {
        // No day of the calendar.
      }
      throw invalid({ field: name, message: `${name} must be a day such as 2026-03-31` });
    },
  };
}

/** The first moment of a day in a time zone. */
export function startOfDay(day: Temporal.PlainDate, timeZone: string): Date {
  return new Date(day.toZonedDateTime(timeZone).epochMilliseconds);
}

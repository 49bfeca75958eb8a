/** Query parameters that are days, and the start of a day in a time zone. */
import { Temporal } from "temporal-polyfill";
import { Type } from "typebox";
import { invalid } from "#platform/errors.ts";
import type { QueryField } from "./query.ts";

/** A query parameter YYYY-MM-DD; undefined if absent. */
export function dayField(description: string): QueryField<Temporal.PlainDate | undefined> {
  return {
    schema: Type.String({ format: "date", description }),
    read(text, name) {
      if (text === undefined || text === "") return undefined;
      try {
        if (/^\d{4}-\d\d-\d\d$/.test(text)) return Temporal.PlainDate.from(text);
      } catch {
        // Not a day of the calendar.
      }
      throw invalid({ field: name, message: `${name} must be a day such as 2026-03-31` });
    },
  };
}

/** The first moment of a day in a time zone. */
export function startOfDay(day: Temporal.PlainDate, timeZone: string): Date {
  return new Date(day.toZonedDateTime(timeZone).epochMilliseconds);
}

/** `from` and `to` of the history: whole days, the last one included. */
import { Temporal } from "temporal-polyfill";
import { Type } from "typebox";
import { invalid } from "../../platform/errors.ts";
import type { QueryField } from "../../platform/http/query.ts";

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

/**
 * The moments between which days lie in a time zone.
 * @throws ApiError VALIDATION_ERROR when the last day is before the first
 */
export function momentsOf(
  from: Temporal.PlainDate | undefined,
  to: Temporal.PlainDate | undefined,
  timezone: string,
): { readonly since: Date | undefined; readonly before: Date | undefined } {
  if (from && to && Temporal.PlainDate.compare(from, to) > 0) {
    throw invalid({ field: "to", message: "to must not be before from" });
  }
  const begin = (day: Temporal.PlainDate | undefined) =>
    day && new Date(day.toZonedDateTime(timezone).epochMilliseconds);
  return { since: begin(from), before: begin(to?.add({ days: 1 })) };
}

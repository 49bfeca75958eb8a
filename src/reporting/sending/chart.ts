/** Daily figures for a chart, including days without messages. */
import { Temporal } from "temporal-polyfill";
import { type Static, Type } from "typebox";
import type { Counts } from "#messages/counters/counters.ts";
import { invalid } from "#platform/errors.ts";
import { attemptedOf, deliveredOf } from "#reporting/counters/rates.ts";

const DEFAULT_DAYS = 30;
const MOST_DAYS = 366;

export const ChartDay = Type.Object(
  {
    date: Type.String({ format: "date", description: "A day of the workspace's time zone." }),
    sent: Type.Integer({ description: "Messages accepted on that day with at least one finished attempt." }),
    delivered: Type.Integer({ description: "Messages that a server accepted." }),
    bounced: Type.Integer({ description: "Messages that bounced." }),
    failed: Type.Integer({ description: "Messages that failed for another reason." }),
    complained: Type.Integer({ description: "Messages that were reported as spam." }),
    suppressed: Type.Integer({
      description: "Messages that were not sent because the recipient was suppressed.",
    }),
    opens: Type.Integer({ description: "By people, like `clicks`; of the messages accepted on that day." }),
    clicks: Type.Integer({ description: "Clicks by people." }),
    machine_opens: Type.Integer({ description: "By programs; no other figure contains them." }),
    machine_clicks: Type.Integer({ description: "Clicks by programs." }),
    unsubscribed: Type.Integer({ description: "People who unsubscribed." }),
  },
  { $id: "ChartDay" },
);

export interface Days {
  readonly from: Temporal.PlainDate;
  /** The last one. */
  readonly to: Temporal.PlainDate;
}

/**
 * The requested days; by default the last 30.
 * @throws ApiError VALIDATION_ERROR when the span is reversed or too long
 */
export function daysOf(
  { start_date, end_date }: { start_date: Days["from"] | undefined; end_date: Days["to"] | undefined },
  now: Date,
  timeZone: string,
): Days {
  const today = Temporal.Instant.fromEpochMilliseconds(now.getTime())
    .toZonedDateTimeISO(timeZone)
    .toPlainDate();
  const to = end_date ?? today;
  const from = start_date ?? to.subtract({ days: DEFAULT_DAYS - 1 });
  if (Temporal.PlainDate.compare(from, to) > 0) {
    throw invalid({ field: "start_date", message: "start_date must not be after end_date" });
  }
  if (from.until(to).days >= MOST_DAYS) {
    throw invalid({ field: "end_date", message: `The span must be at most ${MOST_DAYS} days` });
  }
  return { from, to };
}

/** @param counted the days with messages */
export function chartOf(
  { from, to }: Days,
  counted: readonly (Counts & { readonly date: string })[],
): Static<typeof ChartDay>[] {
  const byDate = new Map(counted.map((day) => [day.date, day]));
  return Array.from({ length: from.until(to).days + 1 }, (_, at) => {
    const date = from.add({ days: at }).toString();
    const counts = byDate.get(date);
    return {
      date,
      sent: counts ? attemptedOf(counts) : 0,
      delivered: counts ? deliveredOf(counts) : 0,
      bounced: counts?.bounced ?? 0,
      failed: counts?.failed ?? 0,
      complained: counts?.complained ?? 0,
      suppressed: counts?.suppressed ?? 0,
      opens: counts?.opens ?? 0,
      clicks: counts?.clicks ?? 0,
      machine_opens: counts?.machine_opens ?? 0,
      machine_clicks: counts?.machine_clicks ?? 0,
      unsubscribed: counts?.unsubscribed ?? 0,
    };
  });
}

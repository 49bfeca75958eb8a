/** Daily figures and the sending health over HTTP. */
import { Type } from "typebox";
import { reports } from "#messages/permission.ts";
import type { Clock } from "#platform/clock.ts";
import type { Queryable } from "#platform/database/pool.ts";
import { type Endpoint, endpoint, need } from "#platform/http/endpoint.ts";
import { dayField, startOfDay } from "#platform/http/request/day-parameters.ts";
import { DAY_MS } from "#platform/time-units.ts";
import { countsByDay, totals } from "#reporting/counters/totals-store.ts";
import { ChartDay, chartOf, daysOf } from "./chart.ts";
import { Health, healthOf } from "./health.ts";

const HEALTH_DAYS = 30;
const day = dayField("YYYY-MM-DD, inclusive, in the workspace's time zone.");

export function sendingReportEndpoints({ db, clock }: { db: Queryable; clock: Clock }): Endpoint[] {
  const needs = need(reports, "read");
  return [
    endpoint({
      id: "getSendingChart",
      method: "GET",
      path: "/stats/chart",
      mayTakeLong: "reading",
      summary: "Daily delivery figures, every day present; the last 30 days by default",
      description:
        "Sums of every day in the workspace's time zone, also of days on which nothing was sent. The figures are counted as things happen, so the call is fast for any volume.",
      needs,
      query: { start_date: day, end_date: day },
      answer: Type.Array(ChartDay),
      message: "Daily figures",
      async handle({ caller: { workspaceId, timezone }, query }) {
        const days = daysOf(query, clock.now(), timezone);
        const span = {
          from: startOfDay(days.from, timezone),
          to: startOfDay(days.to.add({ days: 1 }), timezone),
        };
        return chartOf(days, await countsByDay(db, workspaceId, timezone, span));
      },
    }),
    endpoint({
      id: "getSendingHealth",
      method: "GET",
      path: "/stats/health",
      mayTakeLong: "reading",
      summary: "Sending health: bounces and complaints of the last 30 days against their limits",
      description:
        "Mailbox providers block senders with many bounces or complaints. The answer says whether the workspace is near or beyond the usual limits.",
      needs,
      answer: Health,
      message: "Sending health",
      async handle({ caller: { workspaceId } }) {
        const now = clock.now();
        const from = new Date(now.getTime() - HEALTH_DAYS * DAY_MS);
        return healthOf(await totals(db, workspaceId, { from, to: null }), HEALTH_DAYS, now);
      },
    }),
  ];
}

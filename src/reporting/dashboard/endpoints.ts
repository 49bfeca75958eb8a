/** The dashboard over HTTP: figures of this month and the setup checklist. */
import { Temporal } from "temporal-polyfill";
import { type Static, Type } from "typebox";
import type { Counts } from "#messages/counters/counters.ts";
import { reports } from "#messages/permission.ts";
import type { Clock } from "#platform/clock.ts";
import type { Database } from "#platform/database/pool.ts";
import { type Endpoint, endpoint, need } from "#platform/http/endpoint.ts";
import { startOfDay } from "#platform/http/request/day-parameters.ts";
import { described, Timestamp } from "#platform/shapes.ts";
import { deliveredOf, percentOf } from "#reporting/counters/rates.ts";
import { totals } from "#reporting/counters/totals-store.ts";
import { checklistOf, findSteps, SetupChecklist } from "./setup-checklist-store.ts";

/** Figures whose percentages are of `total`, and those whose percentages are of `delivered`. */
const ofTotal = ["delivered", "bounced", "failed", "suppressed", "queued"] as const;
const ofDelivered = ["complained", "unsubscribed", "unique_opens", "unique_clicks"] as const;
const figures = [...ofTotal, ...ofDelivered] as const;
type Figure = (typeof figures)[number];
type PercentOf = `${Figure}_percent`;

const Percent = Type.Number({ description: "0 to 100." });
const meanings: Readonly<Record<Figure, string>> = {
  delivered: "Messages of the month that a server accepted.",
  bounced: "Messages of the month that bounced.",
  failed: "Messages of the month that failed for another reason.",
  suppressed: "Messages of the month that were not sent because the recipient was suppressed.",
  queued: "Messages of the month that wait or are tried again.",
  complained: "Messages of the month that were reported as spam.",
  unsubscribed: "People who unsubscribed by a message of the month.",
  unique_opens: "Messages of the month that a person opened.",
  unique_clicks: "Messages of the month in which a person clicked.",
};
const countShapes = Object.fromEntries(
  figures.map((figure) => [figure, Type.Integer({ description: meanings[figure] })]),
) as Record<Figure, ReturnType<typeof Type.Integer>>;
const percentShapes = Object.fromEntries(figures.map((figure) => [`${figure}_percent`, Percent])) as Record<
  PercentOf,
  typeof Percent
>;

const statsFields = {
  total: Type.Integer({
    description: "Delivered, bounced, failed, suppressed and queued messages; the base of their percentages.",
  }),
  ...countShapes,
  ...percentShapes,
};
const MonthStats = Type.Object(statsFields, { $id: "MonthStats" });

/** The figures are in `stats` and also beside it, so that clients may read them at either place. */
const Dashboard = Type.Object(
  {
    ...statsFields,
    stats: described(MonthStats, "Figures of this month."),
    period_start: Type.Unsafe<Date>({
      ...Timestamp,
      description: "The beginning of the month in the workspace's time zone.",
    }),
    setup_checklist: described(SetupChecklist, "What is left to set up."),
  },
  { $id: "Dashboard" },
);

export function dashboardEndpoints({ db, clock }: { db: Database; clock: Clock }): Endpoint[] {
  return [
    endpoint({
      id: "getDashboard",
      method: "GET",
      path: "/dashboard",
      mayTakeLong: "reading",
      summary: "Figures of this month, and the setup checklist",
      description: "The figures for a first page, in one call.",
      needs: need(reports, "read"),
      isEveryday: true,
      answer: Dashboard,
      message: "Dashboard",
      async handle({ caller: { workspaceId, timezone } }) {
        const period_start = startOfMonth(clock.now(), timezone);
        const [counts, steps] = await Promise.all([
          totals(db, workspaceId, { from: period_start, to: null }),
          findSteps(db, workspaceId),
        ]);
        const stats = monthStats(counts);
        return { ...stats, stats, period_start, setup_checklist: checklistOf(steps) };
      },
    }),
  ];
}

export function startOfMonth(now: Date, timeZone: string): Date {
  const { year, month } = Temporal.Instant.fromEpochMilliseconds(now.getTime()).toZonedDateTimeISO(timeZone);
  return startOfDay(Temporal.PlainDate.from({ year, month, day: 1 }), timeZone);
}

function monthStats(counts: Counts): Static<typeof MonthStats> {
  const delivered = deliveredOf(counts);
  const shown: Record<Figure, number> = {
    ...counts,
    delivered,
    queued: counts.queued + counts.deferred,
  };
  const total = ofTotal.reduce((sum, figure) => sum + shown[figure], 0);
  const pick = (names: readonly Figure[], whole: number) => ({
    counts: names.map((name) => [name, shown[name]] as const),
    percents: names.map((name) => [`${name}_percent`, percentOf(shown[name], whole)] as const),
  });
  const parts = [pick(ofTotal, total), pick(ofDelivered, delivered)];
  return {
    total,
    ...(Object.fromEntries(parts.flatMap((part) => part.counts)) as Record<Figure, number>),
    ...(Object.fromEntries(parts.flatMap((part) => part.percents)) as Record<PercentOf, number>),
  };
}

/** Four figures of 30 days with the 30 days before behind them, and the days as a chart. */
import type { Schema } from "@posthaste/client";
import { useQuery } from "@tanstack/react-query";
import { usePlace } from "../../api/session.tsx";
import { DayChart, type DaySeries } from "../../parts/day-chart.tsx";
import { Failure } from "../../parts/failure.tsx";
import { counted, countText, rateText } from "../../parts/numbers.ts";
import { Panel } from "../../parts/page.tsx";

type ChartDay = Schema<"ChartDay">;

const DAYS = 30;
/** Below it a rate says little. */
const MEANINGFUL_BASE = 100;

export function useDays(enabled = true) {
  const { api, workspace } = usePlace();
  const today = todayIn(workspace.timezone);
  return useQuery({
    queryKey: ["chart", workspace.id, today],
    queryFn: ({ signal }) =>
      api.getSendingChart({
        query: { start_date: daysBefore(today, 2 * DAYS - 1), end_date: today },
        signal,
      }),
    enabled,
  });
}

export function Figures() {
  const { workspace } = usePlace();
  const { data, error, refetch } = useDays();
  if (error)
    return (
      <Panel title={`Last ${DAYS} days`}>
        <Failure error={error} onRetry={() => refetch()} />
      </Panel>
    );
  const now = data?.slice(-DAYS) ?? [];
  const before = data?.slice(0, -DAYS) ?? [];
  return (
    <>
      <Panel title={`Last ${DAYS} days`}>
        <FigureRow now={sumsOf(now)} before={sumsOf(before)} isLoading={data === undefined} />
      </Panel>
      <section className="min-h-80 border-t border-line py-5">
        {data && <SendingChart days={now} zone={workspace.timezone} />}
      </section>
    </>
  );
}

interface Sums {
  readonly sent: number;
  readonly delivered: number;
  readonly opens: number;
  readonly clicks: number;
  readonly bad: number;
}

function sumsOf(days: readonly ChartDay[]): Sums {
  const sum = (read: (day: ChartDay) => number) => days.reduce((total, day) => total + read(day), 0);
  return {
    sent: sum((day) => day.sent),
    delivered: sum((day) => day.delivered),
    opens: sum((day) => day.opens),
    clicks: sum((day) => day.clicks),
    bad: sum((day) => day.bounced + day.complained),
  };
}

function FigureRow({
  now,
  before,
  isLoading,
}: {
  readonly now: Sums;
  readonly before: Sums;
  readonly isLoading: boolean;
}) {
  const shown = [
    { name: "Delivered", count: now.delivered, of: now.sent, former: before.delivered },
    { name: "Opens by people", count: now.opens, of: now.delivered, former: before.opens },
    { name: "Clicks by people", count: now.clicks, of: now.delivered, former: before.clicks },
    { name: "Bounced and complained", count: now.bad, of: now.sent, former: before.bad },
  ];
  return (
    <dl className="grid grid-cols-2 gap-x-6 gap-y-5 lg:grid-cols-4">
      {shown.map(({ name, count, of, former }) => (
        <div key={name} className="min-w-0">
          <dt className="text-muted">{name}</dt>
          {isLoading ? (
            <dd className="mt-1 h-15 animate-appear rounded bg-sunken" />
          ) : (
            <>
              <dd className={`text-figure font-semibold tracking-tight ${count === 0 ? "text-muted" : ""}`}>
                {countText(count)}
              </dd>
              <dd className={`text-small ${of < MEANINGFUL_BASE ? "text-muted" : ""}`}>
                {rateText(count, of)} {of === now.sent ? "sent" : "delivered"}
              </dd>
              <dd className="text-small text-muted">{countText(former)} in the 30 days before</dd>
            </>
          )}
        </div>
      ))}
    </dl>
  );
}

const series: readonly DaySeries[] = [
  { name: "Delivered", tone: "fill-blue", stack: 0 },
  { name: "Opens by people", tone: "fill-teal", stack: 1 },
  { name: "Opens by programs", tone: "fill-grey", isHatched: true, stack: 1 },
  { name: "Bounced", tone: "fill-rose", stack: 2 },
];

function SendingChart({ days, zone }: { readonly days: readonly ChartDay[]; readonly zone: string }) {
  const { delivered } = sumsOf(days);
  const best = days.reduce<ChartDay | undefined>(
    (most, day) => (day.delivered > (most?.delivered ?? 0) ? day : most),
    undefined,
  );
  const summary = best
    ? `${counted(delivered, "message")} delivered in ${DAYS} days, most on ${longDay(best.date)} (${countText(best.delivered)}). Days in ${zone}.`
    : `Nothing was delivered in these ${DAYS} days.`;
  return (
    <DayChart
      title="Per day"
      summary={summary}
      series={series}
      days={days.map(({ date, delivered: count, opens, machine_opens, bounced }) => ({
        date,
        values: [count, opens, machine_opens, bounced],
      }))}
    />
  );
}

function longDay(date: string): string {
  const format = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "long", timeZone: "UTC" });
  return format.format(new Date(`${date}T00:00:00Z`));
}

/** The present day of a zone, as YYYY-MM-DD. */
function todayIn(timeZone: string): string {
  return new Intl.DateTimeFormat("en-CA", { dateStyle: "short", timeZone }).format(new Date());
}

function daysBefore(date: string, count: number): string {
  const day = new Date(`${date}T00:00:00Z`);
  day.setUTCDate(day.getUTCDate() - count);
  return day.toISOString().slice(0, 10);
}

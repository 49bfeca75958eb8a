/** How opens and clicks came in during the first 48 hours. */
import type { Data } from "@posthaste/client";
import { useQuery } from "@tanstack/react-query";
import { usePlace } from "../../../api/session.tsx";
import { Failure } from "../../../parts/failure.tsx";
import { LineChart } from "../../../parts/line-chart.tsx";
import { counted, countText } from "../../../parts/numbers.ts";
import { useZone } from "../../../parts/time.tsx";
import { Waiting } from "./report-table.tsx";
import { useTracking } from "./use-tracking.ts";

type Hour = Data<"getCampaignActivity">[number];

const HOURS = 48;
const LABEL_EVERY = 12;
const FRESH_MS = 60_000;

const series = [
  { name: "Opens", tone: "text-accent" },
  { name: "Clicks", tone: "text-warning", isDashed: true },
] as const;

interface Props {
  readonly campaign: Data<"getCampaign">;
  readonly isRunning: boolean;
}

export function useActivity(id: string, isRunning: boolean) {
  const { api, workspace } = usePlace();
  return useQuery({
    queryKey: ["campaign-activity", workspace.id, id],
    queryFn: ({ signal }) => api.getCampaignActivity({ id, signal }),
    refetchInterval: isRunning ? FRESH_MS : false,
  });
}

export function Curve({ campaign, isRunning }: Props) {
  const tracking = useTracking(campaign);
  const zone = useZone();
  const { data, error, refetch } = useActivity(campaign.id, isRunning);
  const hours = data?.slice(0, HOURS);
  if (tracking.opens === false && tracking.clicks === false && campaign.open_count === 0) return null;
  return (
    <section className="border-t border-line py-5">
      {error && !data ? (
        <Failure error={error} onRetry={() => void refetch()} />
      ) : hours === undefined ? (
        <Waiting lines={7} />
      ) : hours.length < 2 ? (
        <>
          <h2 className="text-[15px] font-semibold">Opens and clicks by hour</h2>
          <p className="mt-1 text-muted">The curve begins with the second hour after sending.</p>
        </>
      ) : (
        <LineChart
          title={`Opens and clicks, first ${counted(hours.length, "hour")}`}
          summary={summaryOf(hours)}
          series={series}
          points={hours.map(({ time, opens, clicks }) => ({
            label: hourText(time, zone),
            values: [opens, clicks],
          }))}
          labelEvery={Math.min(LABEL_EVERY, Math.max(1, Math.ceil(hours.length / 4)))}
        />
      )}
    </section>
  );
}

function summaryOf(hours: readonly Hour[]): string {
  const last = hours.at(-1);
  if (!last || last.opens === 0) return `No opens by people within ${counted(hours.length, "hour")}.`;
  const half = hours.findIndex(({ opens }) => opens * 2 >= last.opens) + 1;
  return `${counted(last.opens, "open")} and ${counted(last.clicks, "click")} by people; half of the ${countText(last.opens)} opens came within ${counted(half, "hour")}.`;
}

function hourText(time: string, zone: string): string {
  return new Intl.DateTimeFormat("en-GB", {
    day: "numeric",
    month: "short",
    hour: "2-digit",
    minute: "2-digit",
    timeZone: zone,
  }).format(new Date(time));
}

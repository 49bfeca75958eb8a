/** Growth and health of a list over the last days. */
import type { Data } from "@posthaste/client";
import { useQuery } from "@tanstack/react-query";
import { usePlace } from "../../api/session.tsx";
import { countText } from "../../parts/numbers.ts";
import { SparkLine } from "./spark-line.tsx";

export type ListStats = Data<"getMailingListStats">[number];

/** The figures of all lists come in one answer. */
export function useListStats() {
  const { api, workspace } = usePlace();
  return useQuery({
    queryKey: ["lists", workspace.id, "stats"],
    queryFn: ({ signal }) => api.getMailingListStats({ signal }),
    staleTime: 10_000,
  });
}

export function Growth({ stats }: { readonly stats: ListStats }) {
  const { net_growth, sparkline } = stats;
  const text = `${net_growth > 0 ? "+" : ""}${countText(net_growth)}`;
  return (
    <span className="inline-flex max-w-full items-center gap-2 align-middle">
      <SparkLine
        label={`Growth by day over ${sparkline.length} days: ${text} in all`}
        values={sparkline.map(({ value }) => value)}
      />
      <span className={net_growth === 0 ? "text-muted" : ""}>{text}</span>
    </span>
  );
}

const percent = new Intl.NumberFormat("en", { style: "percent", maximumFractionDigits: 1 });

/** What the health score is made of. */
export function healthReasons(stats: ListStats): string {
  const { engagement_rate, bounce_rate, complaint_rate, last_campaign } = stats;
  if (last_campaign === null && engagement_rate + bounce_rate + complaint_rate === 0) return "No mail yet";
  return [
    `${percent.format(engagement_rate)} opened`,
    `${percent.format(bounce_rate)} bounced`,
    `${percent.format(complaint_rate)} complained`,
  ].join(" · ");
}

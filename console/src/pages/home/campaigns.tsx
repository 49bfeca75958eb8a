/** Campaigns on the home page: those that are being sent, live, and the last five. */
import type { Schema } from "@posthaste/client";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { ProgressBar } from "react-aria-components";
import { usePlace } from "../../api/session.tsx";
import { Failure } from "../../parts/failure.tsx";
import { countText, rateText } from "../../parts/numbers.ts";
import { Panel } from "../../parts/page.tsx";
import { Time } from "../../parts/time.tsx";
import { CampaignState } from "../campaigns/campaign-state.tsx";
import { useProgress } from "../campaigns/report/use-progress.ts";

type Campaign = Schema<"CampaignSummary">;

const LAST = 5;
const POLL_MS = 60_000;

export function useSending(enabled = true) {
  const { api, workspace } = usePlace();
  return useQuery({
    queryKey: ["campaigns", workspace.id, "sending"],
    queryFn: ({ signal }) => api.listCampaigns({ query: { status: "sending", limit: LAST }, signal }),
    refetchInterval: POLL_MS,
    enabled,
  });
}

export function SendingNow() {
  const { data, error, refetch } = useSending();
  if (error)
    return (
      <Panel title="Sending now">
        <Failure error={error} onRetry={() => void refetch()} />
      </Panel>
    );
  if (!data || data.campaigns.length === 0) return null;
  return (
    <Panel title="Sending now">
      <ul>
        {data.campaigns.map((campaign) => (
          <SendingRow key={campaign.id} campaign={campaign} />
        ))}
      </ul>
    </Panel>
  );
}

function SendingRow({ campaign: { id, name } }: { readonly campaign: Campaign }) {
  const { workspace } = usePlace();
  const { progress } = useProgress(id, "sending");
  if (!progress) return <li className="h-16 animate-appear rounded bg-sunken" />;
  const { attempted, total, rate_per_minute, eta, limited_by, status } = progress;
  const percent = total === 0 ? 0 : Math.floor((attempted / total) * 100);
  return (
    <li className="border-b border-line/60 py-3 last:border-0">
      <p className="flex gap-4">
        <Link
          to={`/${workspace.id}/campaigns/${id}`}
          className="min-w-0 flex-1 truncate font-medium hover:underline"
        >
          {name}
        </Link>
        <span className="shrink-0 text-muted">
          {countText(attempted)} of {countText(total)}
        </span>
      </p>
      <ProgressBar aria-label={name} value={percent} className="mt-2 h-1.5 rounded-full bg-sunken">
        <div
          className="h-1.5 rounded-full bg-accent transition-[width] duration-100"
          style={{ width: `${percent}%` }}
        />
      </ProgressBar>
      <p className="mt-1 text-small text-muted">
        {status === "sending" ? `${countText(rate_per_minute)} a minute` : <span>{status}</span>}
        {eta && (
          <>
            , done <Time at={eta} />
          </>
        )}
        {limited_by && ` · ${limited_by.text}`}
      </p>
    </li>
  );
}

export function useLastCampaigns(enabled = true) {
  const { api, workspace } = usePlace();
  return useQuery({
    queryKey: ["campaigns", workspace.id, "last"],
    queryFn: ({ signal }) => api.listCampaigns({ query: { limit: LAST }, signal }),
    enabled,
  });
}

export function LastCampaigns() {
  const { workspace } = usePlace();
  const { data, error, refetch } = useLastCampaigns();
  if (data?.campaigns.length === 0) return null;
  return (
    <Panel
      title="Last campaigns"
      acts={
        <Link to={`/${workspace.id}/campaigns`} className="self-center text-accent hover:underline">
          All campaigns
        </Link>
      }
    >
      {error && <Failure error={error} onRetry={() => void refetch()} />}
      {!data && !error && <div className="h-56 animate-appear rounded bg-sunken" />}
      <ul>
        {data?.campaigns.map((campaign) => (
          <CampaignRow key={campaign.id} campaign={campaign} />
        ))}
      </ul>
    </Panel>
  );
}

function CampaignRow({ campaign }: { readonly campaign: Campaign }) {
  const { workspace } = usePlace();
  const { id, name, status, sent_at, scheduled_at, created_at } = campaign;
  const { delivered_count, unique_open_count, unique_click_count } = campaign;
  return (
    <li className="grid min-h-11 items-center gap-x-6 border-b border-line/60 py-1.5 last:border-0 md:grid-cols-[minmax(0,1fr)_110px_minmax(0,300px)_110px]">
      <Link to={`/${workspace.id}/campaigns/${id}`} className="truncate font-medium hover:underline">
        {name}
      </Link>
      <CampaignState status={status} />
      <span className="text-small text-muted">
        {delivered_count > 0 &&
          `opened ${rateText(unique_open_count, delivered_count)}, clicked ${countText(unique_click_count)}`}
      </span>
      <span className="text-small text-muted md:text-right">
        <Time at={sent_at ?? scheduled_at ?? created_at} />
      </span>
    </li>
  );
}

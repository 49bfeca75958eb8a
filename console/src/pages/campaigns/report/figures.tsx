/** What the campaign brought: each figure with its base, the usual of the last campaigns, and what programs did beside it. */
import type { Data } from "@posthaste/client";
import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { usePlace } from "../../../api/session.tsx";
import { countText, rateText } from "../../../parts/numbers.ts";
import { type RecipientFilter, RecipientsLink } from "./recipients-link.tsx";
import type { Progress } from "./use-progress.ts";
import { type Tracking, useTracking } from "./use-tracking.ts";

type Summary = Data<"listCampaigns">["campaigns"][number];

/** Rates of fewer people say little. */
const MEANINGFUL_BASE = 100;
const COMPARED = 20;

interface Figure {
  readonly name: string;
  readonly count: number;
  readonly of: number;
  readonly base: string;
  readonly filter?: RecipientFilter;
  readonly who: string;
  /** The same figure of another campaign, and its base. */
  readonly usual: (other: Summary) => readonly [number, number];
  readonly machine?: number;
  readonly isTracked?: boolean | undefined;
}

export function Figures({
  campaign,
  progress,
}: {
  readonly campaign: Data<"getCampaign">;
  readonly progress: Progress;
}) {
  const others = useOthers(campaign.id);
  const tracking = useTracking(campaign);
  return (
    <section aria-label="Figures" className="border-t border-line py-5">
      <dl className="grid grid-cols-2 gap-x-6 gap-y-5 sm:grid-cols-3 lg:grid-cols-5">
        {figuresOf(campaign, progress, tracking).map((figure) => (
          <FigureCell key={figure.name} figure={figure} campaignId={campaign.id} others={others} />
        ))}
      </dl>
    </section>
  );
}

const nothing = [0, 0] as const;

/** A campaign that no person and no program opened was most likely not tracked, and is left out of the averages. */
function isSeen({ unique_open_count, machine_opens }: Summary): boolean {
  return unique_open_count + machine_opens > 0;
}

function figuresOf(
  campaign: Data<"getCampaign">,
  { opened, clicked, unsubscribed, complained, attempted, counts }: Progress,
  tracking: Tracking,
): readonly Figure[] {
  const delivered = { of: counts.delivered, base: "delivered" };
  return [
    {
      name: "Opened by people",
      count: opened,
      ...delivered,
      filter: { opened: true },
      who: "people who opened or clicked",
      usual: (other) => (isSeen(other) ? [other.unique_open_count, other.delivered_count] : nothing),
      machine: campaign.machine_opens,
      isTracked: tracking.opens,
    },
    {
      name: "Clicked by people",
      count: clicked,
      ...delivered,
      filter: { clicked: true },
      who: "people who clicked",
      usual: (other) => (isSeen(other) ? [other.unique_click_count, other.delivered_count] : nothing),
      machine: campaign.machine_clicks,
      isTracked: tracking.clicks,
    },
    {
      name: "Unsubscribed",
      count: unsubscribed,
      ...delivered,
      filter: { unsubscribed: true },
      who: "people who unsubscribed",
      usual: (other) => [other.unsubscribe_count, other.delivered_count],
    },
    {
      name: "Complained",
      count: complained,
      ...delivered,
      filter: { status: "complained" },
      who: "people who reported it as spam",
      usual: (other) => [other.complaint_count, other.delivered_count],
    },
    {
      name: "Bounced",
      count: counts.bounced,
      of: attempted,
      base: "attempted",
      filter: { status: "bounced" },
      who: "people whose server refused it",
      usual: (other) => [other.bounce_count, other.sent_count],
    },
  ];
}

function FigureCell({
  figure: { name, count, of, base, filter, who, usual, machine, isTracked },
  campaignId,
  others,
}: {
  readonly figure: Figure;
  readonly campaignId: string;
  readonly others: readonly Summary[];
}) {
  const isOff = isTracked === false && count === 0;
  return (
    <div>
      <dt className="text-muted">{name}</dt>
      <dd className="text-figure font-semibold tracking-tight">
        {isOff ? (
          <span className="text-body font-normal tracking-normal">Tracking was off</span>
        ) : filter ? (
          <RecipientsLink campaignId={campaignId} count={count} filter={filter} who={who} />
        ) : (
          <span className={count === 0 ? "text-muted" : ""}>{countText(count)}</span>
        )}
      </dd>
      {!isOff && (
        <Detail isFaint={of < MEANINGFUL_BASE}>
          {rateText(count, of)} {base}
        </Detail>
      )}
      {!isOff && others.length > 0 && <Detail>{usualText(others, usual)}</Detail>}
      {machine !== undefined && machine > 0 && (
        <Detail>
          and{" "}
          <RecipientsLink
            campaignId={campaignId}
            count={machine}
            filter={{ machine: true }}
            who="by programs"
          />{" "}
          by programs
        </Detail>
      )}
    </div>
  );
}

function Detail({ children, isFaint = false }: { readonly children: ReactNode; readonly isFaint?: boolean }) {
  return <dd className={`text-small text-muted ${isFaint ? "italic" : ""}`}>{children}</dd>;
}

function usualText(others: readonly Summary[], usual: Figure["usual"]): string {
  const [count, of] = others.map(usual).reduce((sum, one) => [sum[0] + one[0], sum[1] + one[1]], [0, 0]);
  return of === 0 ? "" : `usually ${((count / of) * 100).toFixed(1)} %`;
}

/** The last campaigns that were sent, without this one. */
function useOthers(id: string): readonly Summary[] {
  const { api, workspace } = usePlace();
  const { data } = useQuery({
    queryKey: ["campaigns", workspace.id, "sent lately"],
    queryFn: ({ signal }) =>
      api.listCampaigns({
        query: { status: "sent", sort: "sent", order: "desc", limit: COMPARED + 1 },
        signal,
      }),
    staleTime: 60_000,
  });
  return (data?.campaigns ?? []).filter((one) => one.id !== id).slice(0, COMPARED);
}

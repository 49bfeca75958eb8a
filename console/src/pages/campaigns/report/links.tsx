/** What was clicked: each link in the mail itself with the number of people, and the same as a table. */

import type { Data } from "@posthaste/client";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useCampaignLinks } from "../../../api/campaign-links.ts";
import { usePlace } from "../../../api/session.tsx";
import { Button } from "../../../parts/button.tsx";
import { Failure } from "../../../parts/failure.tsx";
import { countText, rateText } from "../../../parts/numbers.ts";
import { Panel } from "../../../parts/page.tsx";
import { markLinks } from "./mark-links.ts";
import { RecipientsLink } from "./recipients-link.tsx";
import { type FigureColumn, ReportTable, Waiting } from "./report-table.tsx";
import { SentMail } from "./sent-mail.tsx";
import { useTracking } from "./use-tracking.ts";

type Link = Data<"listCampaignLinks">[number];

interface Props {
  readonly campaign: Data<"getCampaign">;
  readonly delivered: number;
}

export function Links({ campaign, delivered }: Props) {
  const tracking = useTracking(campaign);
  const [isMail, setMail] = useState(false);
  const { data, error, refetch } = useCampaignLinks(campaign.id);
  const hasLinks = data !== undefined && data.length > 0;
  return (
    <Panel
      title="Links"
      acts={
        hasLinks && (
          <Button onPress={() => setMail(!isMail)}>{isMail ? "Hide the mail" : "Show in the mail"}</Button>
        )
      }
    >
      {error && !data ? (
        <Failure error={error} onRetry={() => void refetch()} />
      ) : data === undefined ? (
        <Waiting lines={3} />
      ) : data.length === 0 ? (
        <p className="text-muted">
          {tracking.clicks === false ? "Click tracking was off." : "The mail has no link that is tracked."}
        </p>
      ) : (
        <ReportTable
          label="Links"
          rows={data}
          idOf={({ index }) => index}
          columns={columnsOf(campaign.id, delivered)}
        />
      )}
      {isMail && data && <LinksInMail id={campaign.id} links={data} />}
    </Panel>
  );
}

function columnsOf(id: string, delivered: number): readonly FigureColumn<Link>[] {
  return [
    {
      head: "Link",
      cell: ({ url, is_personal }) => (
        <span title={url}>
          {url}
          {is_personal && <span className="text-muted"> differs by person</span>}
        </span>
      ),
    },
    {
      head: "People",
      isNumeric: true,
      cell: ({ index, url, unique_click_count }) => (
        <RecipientsLink
          campaignId={id}
          count={unique_click_count}
          filter={{ link: index }}
          who={`people who clicked ${url}`}
        />
      ),
    },
    {
      head: "Of the delivered",
      isNumeric: true,
      isSecondary: true,
      cell: ({ unique_click_count }) => rateText(unique_click_count, delivered),
    },
    { head: "Clicks", isNumeric: true, cell: ({ click_count }) => countText(click_count) },
  ];
}

/** The mail with a number behind each link. */
function LinksInMail({ id, links }: { readonly id: string; readonly links: readonly Link[] }) {
  const { api, workspace } = usePlace();
  const { data, error, refetch } = useQuery({
    queryKey: ["campaign-links-in-mail", workspace.id, id, links],
    queryFn: async ({ signal }) => {
      const { html_content } = await api.getCampaign({ id, query: { without: "attachments" }, signal });
      const marked = markLinks(html_content ?? "", links, markOf);
      return api.renderContent({ body: { campaign_id: id, html_content: marked, sample: true }, signal });
    },
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
  });
  return (
    <div className="mt-4">
      <p className="mb-2 text-small text-muted">The number behind each link is how many people clicked it.</p>
      {error ? (
        <Failure error={error} onRetry={() => void refetch()} />
      ) : (
        <SentMail title="The mail with its clicks" mail={data} />
      )}
    </div>
  );
}

function markOf({ unique_click_count: people }: Link): string {
  const colour = people > 0 ? "#285cc2" : "#515963";
  return `<span style="display:inline-block;margin:0 4px;padding:0 7px;border-radius:9px;background:${colour};color:#ffffff;font:600 12px/18px sans-serif;text-decoration:none;vertical-align:middle">${countText(people)}</span>`;
}

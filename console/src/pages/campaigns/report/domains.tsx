/** How the mail fared at each receiving domain, the largest first. */
import type { Data } from "@posthaste/client";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { usePlace } from "../../../api/session.tsx";
import { Failure } from "../../../parts/failure.tsx";
import { countText } from "../../../parts/numbers.ts";
import { Panel } from "../../../parts/page.tsx";
import { Pager } from "../../../parts/pager.tsx";
import { type RecipientFilter, RecipientsLink } from "./recipients-link.tsx";
import { type FigureColumn, ReportTable, Waiting } from "./report-table.tsx";

type Row = Data<"getCampaignDomainStats">["stats"][number];

const SHOWN = 20;

export function Domains({ id }: { readonly id: string }) {
  const { api, workspace } = usePlace();
  const [page, setPage] = useState(1);
  const { data, error, refetch } = useQuery({
    queryKey: ["campaign-domains", workspace.id, id, page],
    queryFn: ({ signal }) => api.getCampaignDomainStats({ id, query: { page, limit: SHOWN }, signal }),
    placeholderData: keepPreviousData,
  });
  const pagination = data?.pagination;
  return (
    <Panel
      title="By recipient domain"
      acts={pagination && pagination.total_pages > 1 && <Pager pagination={pagination} onPage={setPage} />}
    >
      {error && !data ? (
        <Failure error={error} onRetry={() => void refetch()} />
      ) : data === undefined ? (
        <Waiting lines={4} />
      ) : data.stats.length === 0 ? (
        <p className="text-muted">No message has left yet.</p>
      ) : (
        <ReportTable
          label="By recipient domain"
          rows={data.stats}
          idOf={({ domain }) => domain}
          columns={columnsOf(id)}
        />
      )}
    </Panel>
  );
}

function columnsOf(id: string): readonly FigureColumn<Row>[] {
  const linked = (count: number, filter: RecipientFilter, who: string) => (
    <RecipientsLink campaignId={id} count={count} filter={filter} who={who} />
  );
  return [
    { head: "Domain", cell: ({ domain }) => <span title={domain}>{domain}</span> },
    {
      head: "Messages",
      isNumeric: true,
      cell: ({ domain, total_messages }) => linked(total_messages, { domain }, `people at ${domain}`),
    },
    {
      head: "Share",
      isNumeric: true,
      isSecondary: true,
      cell: ({ percent_total }) => `${percent_total.toFixed(1)} %`,
    },
    {
      head: "Delivered",
      isNumeric: true,
      cell: ({ domain, success }) =>
        linked(success, { domain, status: "delivered" }, `people at ${domain} with delivered mail`),
    },
    {
      head: "Still trying",
      isNumeric: true,
      isSecondary: true,
      cell: ({ still_trying }) => <Count of={still_trying} />,
    },
    {
      head: "Bounced",
      isNumeric: true,
      cell: ({ domain, bounced }) =>
        linked(bounced, { domain, status: "bounced" }, `people at ${domain} with bounced mail`),
    },
    {
      head: "Failed",
      isNumeric: true,
      isSecondary: true,
      cell: ({ domain, failure }) =>
        linked(failure, { domain, status: "failed" }, `people at ${domain} with failed mail`),
    },
  ];
}

function Count({ of }: { readonly of: number }) {
  return <span className={of === 0 ? "text-muted" : ""}>{countText(of)}</span>;
}

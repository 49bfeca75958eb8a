/** A campaign: how far it is, and what it brought. */
import { useQuery } from "@tanstack/react-query";
import { useParams } from "@tanstack/react-router";
import { usePlace } from "../../api/session.tsx";
import { Failure } from "../../parts/failure.tsx";
import { CampaignReport } from "./report/campaign-report.tsx";

export function CampaignPage() {
  const { campaign: id = "" } = useParams({ strict: false }) as { readonly campaign?: string };
  const { api, workspace } = usePlace();
  const { data, error, refetch } = useQuery({
    queryKey: ["campaign", workspace.id, id],
    queryFn: ({ signal }) => api.getCampaign({ id, query: { without: "content" }, signal }),
  });
  if (error && !data) return <Failure error={error} onRetry={() => void refetch()} />;
  return data ? <CampaignReport key={id} campaign={data} /> : null;
}

/** A campaign at one address: its editor while it is a draft, then its progress and report. */
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useParams } from "@tanstack/react-router";
import { lazy, Suspense } from "react";
import { mayCall, usePlace } from "../../api/session.tsx";
import { isUnknown, Unknown } from "../../parts/unknown.tsx";
import { FailedCampaign, WaitingCampaign } from "./campaign-loading.tsx";

const CampaignEditor = lazy(async () => ({
  default: (await import("./editor/campaign-editor.tsx")).CampaignEditor,
}));
const CampaignReport = lazy(async () => ({
  default: (await import("./report/campaign-report.tsx")).CampaignReport,
}));

export function CampaignPage() {
  const { campaign: id = "" } = useParams({ strict: false }) as { readonly campaign?: string };
  const { api, workspace } = usePlace();
  const queries = useQueryClient();
  const { data, error, refetch } = useQuery({
    queryKey: ["campaign", workspace.id, id],
    queryFn: ({ signal }) => api.getCampaign({ id, query: { without: "content" }, signal }),
  });
  if (isUnknown(error) && !data) return <Unknown title="Campaign" to="campaigns" />;
  if (error && !data) return <FailedCampaign error={error} onRetry={() => void refetch()} />;
  if (!data) return <WaitingCampaign />;
  const isEditable = data.status === "draft" && mayCall(workspace, "updateCampaign");
  return (
    <Suspense fallback={<WaitingCampaign />}>
      {isEditable ? (
        <CampaignEditor
          key={id}
          id={id}
          onChanged={() => void queries.invalidateQueries({ queryKey: ["campaign", workspace.id, id] })}
        />
      ) : (
        <CampaignReport key={id} campaign={data} />
      )}
    </Suspense>
  );
}

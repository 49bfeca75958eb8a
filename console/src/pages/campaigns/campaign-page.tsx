/** A campaign: the ceremony of sending while it is a draft, afterwards how far it is and what it brought. */
import { useQuery } from "@tanstack/react-query";
import { useParams } from "@tanstack/react-router";
import { useState } from "react";
import { usePlace } from "../../api/session.tsx";
import { Button } from "../../parts/button.tsx";
import { Failure } from "../../parts/failure.tsx";
import { Page } from "../../parts/page.tsx";
import { CampaignReport } from "./report/campaign-report.tsx";
import { SendSheet } from "./send/send-sheet.tsx";

export function CampaignPage() {
  const { campaign: id = "" } = useParams({ strict: false }) as { readonly campaign?: string };
  const { api, workspace } = usePlace();
  const [isSending, setSending] = useState(false);
  const { data, error, refetch } = useQuery({
    queryKey: ["campaign", workspace.id, id],
    queryFn: ({ signal }) => api.getCampaign({ id, query: { without: "content" }, signal }),
  });
  return (
    <Page title={data?.name ?? "Campaign"}>
      {error && !data && <Failure error={error} onRetry={() => refetch()} />}
      {data?.status === "draft" && (
        <Button kind="primary" onPress={() => setSending(true)}>
          Send …
        </Button>
      )}
      {data && data.status !== "draft" && <CampaignReport key={id} campaign={data} />}
      {isSending && data?.status === "draft" && (
        <SendSheet campaignId={id} onClose={() => setSending(false)} onSent={() => setSending(false)} />
      )}
    </Page>
  );
}

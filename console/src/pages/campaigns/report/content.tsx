/** The mail as it was sent, to read only. */

import type { Data } from "@posthaste/client";
import { useQuery } from "@tanstack/react-query";
import { usePlace } from "../../../api/session.tsx";
import { Fact, Facts } from "../../../parts/facts.tsx";
import { Failure } from "../../../parts/failure.tsx";
import { SentMail } from "./sent-mail.tsx";

export function Content({ campaign }: { readonly campaign: Data<"getCampaign"> }) {
  const { api, workspace } = usePlace();
  const { id, from_email, from_name, reply_to, message_type } = campaign;
  const { data, error, refetch } = useQuery({
    queryKey: ["campaign-as-sent", workspace.id, id],
    queryFn: ({ signal }) => api.renderContent({ body: { campaign_id: id, sample: true }, signal }),
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
  });
  const sender = data?.from.name ?? from_name;
  const isText = message_type === "sms" || (data !== undefined && data.html === "");
  return (
    <div className="flex flex-col gap-4">
      <Facts>
        <Fact name="Subject">{data?.subject ?? campaign.subject}</Fact>
        <Fact name="From">{sender ? `${sender} <${from_email}>` : from_email}</Fact>
        {reply_to && <Fact name="Replies to">{reply_to}</Fact>}
      </Facts>
      <p className="text-small text-muted">
        Merge tags show the values of a sample person; each recipient has their own.
      </p>
      {error ? (
        <Failure error={error} onRetry={() => void refetch()} />
      ) : isText ? (
        <pre className="rounded-panel border border-line p-4 font-mono text-small whitespace-pre-wrap">
          {data?.text}
        </pre>
      ) : (
        <SentMail title="The mail as it was sent" mail={data} />
      )}
    </div>
  );
}

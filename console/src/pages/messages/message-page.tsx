/** One message on a page of its own. */
import { useQuery } from "@tanstack/react-query";
import { Link, useParams } from "@tanstack/react-router";
import { usePlace } from "../../api/session.tsx";
import { Failure } from "../../parts/failure.tsx";
import { MessageFacts } from "./message-panel.tsx";

export function MessagePage() {
  const { message: id = "" } = useParams({ strict: false }) as { readonly message?: string };
  const { api, workspace } = usePlace();
  const { data, error, refetch } = useQuery({
    queryKey: ["message", workspace.id, id],
    queryFn: ({ signal }) => api.getMessage({ id, signal }),
  });
  return (
    <article className="mx-auto max-w-3xl py-6">
      <p className="px-5 text-small">
        <Link to={`/${workspace.id}/messages`} className="text-accent hover:underline">
          Messages
        </Link>
      </p>
      <h1 className="px-5 pt-1 pb-3 text-title font-semibold tracking-[-0.01em]">
        {data?.subject || "Message"}
      </h1>
      {error ? (
        <Failure error={error} onRetry={() => refetch()} />
      ) : data ? (
        <MessageFacts message={data} />
      ) : null}
    </article>
  );
}

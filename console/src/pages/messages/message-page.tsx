/** One message on a page of its own. */
import { Link, useParams } from "@tanstack/react-router";
import { usePlace } from "../../api/session.tsx";
import { Failure } from "../../parts/failure.tsx";
import { MessageSkeleton, MessageView } from "./message-view.tsx";
import { useMessage } from "./use-message.ts";

export function MessagePage() {
  const { message: id = "" } = useParams({ strict: false }) as { readonly message?: string };
  const { workspace } = usePlace();
  const { data, error, refetch } = useMessage(id);
  return (
    <article className="mx-auto max-w-3xl py-6">
      <p className="px-5 text-small">
        <Link to={`/${workspace.id}/messages`} className="text-accent hover:underline">
          Messages
        </Link>
      </p>
      <h1 className="px-5 pt-1 pb-3 text-title font-semibold tracking-[-0.01em] break-words">
        {data ? data.subject || "No subject" : "Message"}
      </h1>
      {data ? (
        <MessageView message={data} />
      ) : error ? (
        <Failure error={error} onRetry={() => refetch()} />
      ) : (
        <MessageSkeleton />
      )}
    </article>
  );
}

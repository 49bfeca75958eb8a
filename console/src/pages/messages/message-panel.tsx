/** One message beside the list. */
import { usePlace } from "../../api/session.tsx";
import { Failure } from "../../parts/failure.tsx";
import { SidePanel } from "../../parts/side-panel.tsx";
import { MessageSkeleton, MessageView } from "./message-view.tsx";
import { useMessage } from "./use-message.ts";

export function MessagePanel({ id, onClose }: { readonly id: string; readonly onClose: () => void }) {
  const { workspace } = usePlace();
  const { data, error, refetch } = useMessage(id);
  return (
    <SidePanel
      label="Message"
      title={data ? data.subject || "No subject" : "Message"}
      page={`/${workspace.id}/messages/${id}`}
      onClose={onClose}
    >
      {data ? (
        <MessageView message={data} />
      ) : error ? (
        <Failure error={error} onRetry={() => refetch()} />
      ) : (
        <MessageSkeleton />
      )}
    </SidePanel>
  );
}

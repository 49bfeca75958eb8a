/** One message beside the list. */
import { useNavigate } from "@tanstack/react-router";
import { Maximize2, X } from "lucide-react";
import { usePlace } from "../../api/session.tsx";
import { IconButton } from "../../parts/button.tsx";
import { Failure } from "../../parts/failure.tsx";
import { useKeys } from "../../parts/keys.ts";
import { MessageSkeleton, MessageView } from "./message-view.tsx";
import { useMessage } from "./use-message.ts";

export function MessagePanel({ id, onClose }: { readonly id: string; readonly onClose: () => void }) {
  const { workspace } = usePlace();
  const navigate = useNavigate();
  const { data, error, refetch } = useMessage(id);
  useKeys({ Escape: { name: "Close the message", group: "Table", run: onClose } });
  return (
    <aside
      aria-label="Message"
      className="flex h-full min-h-0 min-w-0 flex-col border-l border-line bg-surface"
    >
      <div className="flex h-14 shrink-0 items-center gap-1 border-b border-line px-4 pl-5">
        <h2 className="min-w-0 flex-1 truncate font-semibold">
          {data ? data.subject || "No subject" : "Message"}
        </h2>
        <IconButton
          label="Open the whole page"
          hint="Enter"
          icon={<Maximize2 size={15} aria-hidden />}
          onPress={() => void navigate({ to: `/${workspace.id}/messages/${id}` })}
        />
        <IconButton label="Close" hint="Esc" icon={<X size={16} aria-hidden />} onPress={onClose} />
      </div>
      <div className="min-h-0 flex-1 overflow-auto">
        {data ? (
          <MessageView message={data} />
        ) : error ? (
          <Failure error={error} onRetry={() => refetch()} />
        ) : (
          <MessageSkeleton />
        )}
      </div>
    </aside>
  );
}

/** What can be done about a message: try it now, cancel it, or take its address off the suppression lists. */
import type { Schema } from "@posthaste/client";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useAct } from "../../api/act.ts";
import { mayCall, usePlace } from "../../api/session.tsx";
import { Button } from "../../parts/button.tsx";
import { Question } from "../../parts/dialog.tsx";
import { Failure } from "../../parts/failure.tsx";
import { Time } from "../../parts/time.tsx";
import { isWaiting, type Message } from "./use-message.ts";

export function MessageActs({ message }: { readonly message: Message }) {
  const { workspace } = usePlace();
  const mayFind = mayCall(workspace, "findSuppressions");
  const wasRefused = ["suppressed", "bounced", "complained"].includes(message.status);
  return (
    <>
      {isWaiting(message) && mayCall(workspace, "retryMessage") && <WaitingActs message={message} />}
      {wasRefused && mayFind && <Suppressions message={message} />}
    </>
  );
}

function WaitingActs({ message: { id, to } }: { readonly message: Message }) {
  const { api } = usePlace();
  const [isCancelling, setCancelling] = useState(false);
  const changes = ["message", "messages"];
  const retry = useAct({
    run: () => api.retryMessage({ id }),
    changes,
    done: "The message is tried now",
  });
  const cancel = useAct({
    run: () => api.cancelMessage({ id }),
    changes,
    done: "The message is cancelled",
    onDone: () => setCancelling(false),
  });
  return (
    <div className="border-b border-line px-5 py-3">
      <div className="flex flex-wrap gap-2">
        <Button kind="primary" onPress={() => retry.mutate()} isPending={retry.isPending}>
          Try now
        </Button>
        <Button onPress={() => setCancelling(true)}>Cancel the message</Button>
      </div>
      {retry.error && (
        <div className="mt-3">
          <Failure error={retry.error} />
        </div>
      )}
      <Question
        title="Cancel the message?"
        act="Cancel the message"
        isOpen={isCancelling}
        onClose={() => setCancelling(false)}
        onConfirm={() => cancel.mutate()}
        isPending={cancel.isPending}
        error={cancel.error}
      >
        {to} does not get it. This cannot be undone.
      </Question>
    </div>
  );
}

function Suppressions({ message: { to } }: { readonly message: Message }) {
  const { api, workspace } = usePlace();
  const { data, error, refetch } = useQuery({
    queryKey: ["suppressions", workspace.id, to],
    queryFn: ({ signal }) => api.findSuppressions({ body: { addresses: [to] }, signal }),
  });
  const finding = data?.results[0];
  if (error) return <Failure error={error} onRetry={() => refetch()} />;
  // About as high as what comes, so that the message stays in its place.
  if (!finding) return <div aria-busy="true" className="h-21 border-b border-line max-md:h-40" />;
  if (finding.blocks.length === 0) return null;
  return (
    <div className="border-b border-line px-5 py-3">
      <p className="font-medium">{finding.summary}</p>
      <ul>
        {finding.blocks.map((block) => (
          <Block key={block.entry_id} block={block} address={to} />
        ))}
      </ul>
    </div>
  );
}

function Block({ block, address }: { readonly block: Schema<"SuppressionBlock">; readonly address: string }) {
  const { api, workspace } = usePlace();
  const [isAsking, setAsking] = useState(false);
  const { suppression_list_id, suppression_list_name, entry_id, entry_value, reason, created_at } = block;
  const remove = useAct({
    run: () => api.deleteSuppressionEntry({ id: suppression_list_id, entry_id }),
    changes: ["suppressions", "suppression"],
    done: `${entry_value} is removed from ${suppression_list_name}`,
    onDone: () => setAsking(false),
  });
  return (
    <li className="mt-2 flex flex-wrap items-center gap-x-3 gap-y-2">
      <span className="min-w-0 grow basis-60 break-words text-muted">
        {suppression_list_name}: {entry_value}, {reason.replaceAll("_", " ")}, since <Time at={created_at} />
      </span>
      {mayCall(workspace, "deleteSuppressionEntry") && (
        <Button onPress={() => setAsking(true)}>Remove from suppression</Button>
      )}
      <Question
        title={`Remove ${entry_value} from ${suppression_list_name}?`}
        act="Remove from suppression"
        isOpen={isAsking}
        onClose={() => setAsking(false)}
        onConfirm={() => remove.mutate()}
        isPending={remove.isPending}
        error={remove.error}
      >
        {block.removal_warning ??
          (block.entry_type === "domain"
            ? "Every address of the domain can be mailed again."
            : `${address} can be mailed again.`)}
      </Question>
    </li>
  );
}

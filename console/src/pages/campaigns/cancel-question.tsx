/** Asks before a campaign is cancelled. */
import type { Schema } from "@posthaste/client";
import { useAct } from "../../api/act.ts";
import { usePlace } from "../../api/session.tsx";
import { Question } from "../../parts/dialog.tsx";
import { counted } from "../../parts/numbers.ts";

interface Props {
  readonly campaign: Pick<Schema<"CampaignSummary">, "id" | "name">;
  /** How many people would still get it. */
  readonly unsent: number;
  /** How many messages have left. */
  readonly left: number;
  readonly onClose: () => void;
}

const MANY = 1_000;

export function CancelQuestion({ campaign: { id, name }, unsent, left, onClose }: Props) {
  const { api } = usePlace();
  const cancel = useAct({
    run: () => api.cancelCampaign({ id }),
    changes: ["campaign", "campaigns", "campaign-progress"],
    done: `${name} is cancelled`,
    onDone: onClose,
  });
  return (
    <Question
      title={`Cancel “${name}”?`}
      act="Cancel the campaign"
      isOpen
      onClose={onClose}
      onConfirm={() => cancel.mutate()}
      isPending={cancel.isPending}
      error={cancel.error}
      {...(unsent > MANY && { typed: name })}
    >
      {counted(unsent, "person", "people")} will not get it any more.{" "}
      {left === 0
        ? "No message has been sent."
        : `${counted(left, "message that left stays", "messages that left stay")} sent.`}{" "}
      This cannot be undone.
    </Question>
  );
}

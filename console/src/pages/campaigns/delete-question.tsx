/** Asks before a campaign is deleted. */
import type { Schema } from "@posthaste/client";
import { useAct } from "../../api/act.ts";
import { usePlace } from "../../api/session.tsx";
import { Question } from "../../parts/dialog.tsx";
import { counted } from "../../parts/numbers.ts";

interface Props {
  readonly campaign: Pick<Schema<"CampaignSummary">, "id" | "name" | "status" | "sent_count">;
  readonly onClose: () => void;
  readonly onDeleted?: () => void;
}

export function DeleteQuestion({ campaign: { id, name, status, sent_count }, onClose, onDeleted }: Props) {
  const { api } = usePlace();
  const remove = useAct({
    run: () => api.deleteCampaign({ id }),
    changes: ["campaigns"],
    done: `${name} is deleted`,
    onDone: () => {
      onClose();
      onDeleted?.();
    },
  });
  return (
    <Question
      title={`Delete “${name}”?`}
      act="Delete the campaign"
      isOpen
      onClose={onClose}
      onConfirm={() => remove.mutate()}
      isPending={remove.isPending}
      error={remove.error}
    >
      {sent_count === 0
        ? "Its content and settings are gone for good."
        : `It was sent to ${counted(sent_count, "person", "people")}. Their messages and its figures stay in the reports; its content is gone once they have left the log.`}
      {status === "paused" && " Messages that wait are cancelled."}
    </Question>
  );
}

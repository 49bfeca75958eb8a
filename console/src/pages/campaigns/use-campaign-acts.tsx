/** What can be done with a campaign of the list. What its state does not allow, the API refuses in words. */
import type { Operations, Schema } from "@posthaste/client";
import { useNavigate } from "@tanstack/react-router";
import { type ReactNode, useState } from "react";
import { useAct } from "../../api/act.ts";
import { mayCall, usePlace } from "../../api/session.tsx";
import { ActMenu, type MenuAct } from "../../parts/act-menu.tsx";
import { Button } from "../../parts/button.tsx";
import { Dialog, Question } from "../../parts/dialog.tsx";
import { Failure } from "../../parts/failure.tsx";
import { counted } from "../../parts/numbers.ts";
import { offerUndo } from "../../parts/undo.tsx";
import { DeleteQuestion } from "./delete-question.tsx";

type Campaign = Schema<"CampaignSummary">;
type ActName = "pause" | "resume" | "unschedule" | "cancel" | "duplicate" | "delete";

/** The acts that make sense in a state, by the descriptions of their operations. */
const actsIn: Readonly<Record<Campaign["status"], readonly ActName[]>> = {
  draft: ["duplicate", "delete"],
  scheduled: ["unschedule", "cancel", "duplicate", "delete"],
  sending: ["pause", "cancel", "duplicate"],
  paused: ["resume", "cancel", "duplicate", "delete"],
  sent: ["duplicate", "delete"],
  cancelled: ["duplicate", "delete"],
};

const named: Readonly<Record<ActName, { readonly name: string; readonly operation: keyof Operations }>> = {
  pause: { name: "Pause", operation: "pauseCampaign" },
  resume: { name: "Resume", operation: "resumeCampaign" },
  unschedule: { name: "Unschedule", operation: "unscheduleCampaign" },
  cancel: { name: "Cancel …", operation: "cancelCampaign" },
  duplicate: { name: "Duplicate", operation: "duplicateCampaign" },
  delete: { name: "Delete …", operation: "deleteCampaign" },
};

/** @returns the menu of a row, and the questions and refusals that belong to the page */
export function useCampaignActs(): {
  readonly menuOf: (campaign: Campaign) => ReactNode;
  readonly overlay: ReactNode;
} {
  const { api, workspace } = usePlace();
  const navigate = useNavigate();
  const [asked, setAsked] = useState<{ readonly act: "cancel" | "delete"; readonly campaign: Campaign }>();
  const run = useAct({
    run: async ({ act, campaign: { id } }: { act: ActName; campaign: Campaign }) => {
      if (act === "pause") return api.pauseCampaign({ id });
      if (act === "resume") return api.resumeCampaign({ id });
      if (act === "unschedule") return api.unscheduleCampaign({ id });
      return api.duplicateCampaign({ id });
    },
    changes: ["campaigns", "campaign"],
    done: ({ name, status }) => `${name} is ${status === "draft" ? "a draft" : status}`,
  });
  const start = (act: ActName, campaign: Campaign) => {
    if (act === "cancel" || act === "delete") return setAsked({ act, campaign });
    run.mutate(
      { act, campaign },
      {
        onSuccess: ({ id }) => {
          if (act === "duplicate") void navigate({ to: `/${workspace.id}/campaigns/${id}` });
          if (act === "pause")
            offerUndo(`${campaign.name} is paused`, () => run.mutate({ act: "resume", campaign }));
        },
      },
    );
  };
  const menuOf = (campaign: Campaign) => {
    const acts = actsIn[campaign.status]
      .filter((act) => mayCall(workspace, named[act].operation))
      .map((act): MenuAct => {
        const isDanger = act === "cancel" || act === "delete";
        return { name: named[act].name, run: () => start(act, campaign), isDanger };
      });
    const open = {
      name: "Open",
      run: () => void navigate({ to: `/${workspace.id}/campaigns/${campaign.id}` }),
    };
    return <ActMenu label={`Acts on ${campaign.name}`} acts={[open, ...acts]} />;
  };
  const close = () => setAsked(undefined);
  const overlay = (
    <>
      {asked?.act === "delete" && <DeleteQuestion campaign={asked.campaign} onClose={close} />}
      {asked?.act === "cancel" && <CancelQuestion campaign={asked.campaign} onClose={close} />}
      {run.error && (
        <Dialog title="That was refused" isOpen onClose={() => run.reset()}>
          <Failure error={run.error} />
          <div className="mt-4 flex justify-end">
            <Button onPress={() => run.reset()}>Close</Button>
          </div>
        </Dialog>
      )}
    </>
  );
  return { menuOf, overlay };
}

const MANY = 1_000;

function CancelQuestion({
  campaign: { id, name, sent_count, total_recipients },
  onClose,
}: {
  readonly campaign: Campaign;
  readonly onClose: () => void;
}) {
  const { api } = usePlace();
  const cancel = useAct({
    run: () => api.cancelCampaign({ id }),
    changes: ["campaigns", "campaign"],
    done: `${name} is cancelled`,
    onDone: onClose,
  });
  const left = Math.max(0, total_recipients - sent_count);
  return (
    <Question
      title={`Cancel “${name}”?`}
      act="Cancel the campaign"
      isOpen
      onClose={onClose}
      onConfirm={() => cancel.mutate()}
      isPending={cancel.isPending}
      error={cancel.error}
      {...(left > MANY && { typed: name })}
    >
      {counted(left, "person gets", "people get")} nothing any more.{" "}
      {sent_count > 0 &&
        `${counted(sent_count, "message that left stays", "messages that left stay")} sent. `}
      This cannot be undone.
    </Question>
  );
}

/** The menu of a campaign in the list, with the questions and refusals that belong to the page. */
import type { Schema } from "@posthaste/client";
import { useNavigate } from "@tanstack/react-router";
import { type ReactNode, useState } from "react";
import { mayCall, usePlace } from "../../api/session.tsx";
import { ActMenu, type MenuAct } from "../../parts/act-menu.tsx";
import { Button } from "../../parts/button.tsx";
import { Dialog } from "../../parts/dialog.tsx";
import { Failure } from "../../parts/failure.tsx";
import { CancelQuestion } from "./cancel-question.tsx";
import { DeleteQuestion } from "./delete-question.tsx";
import { type ActName, actsOnce, useCampaignAct } from "./use-campaign-act.ts";

type Campaign = Schema<"CampaignSummary">;

const asked = {
  cancel: { name: "Cancel …", operation: "cancelCampaign" },
  delete: { name: "Delete …", operation: "deleteCampaign" },
} as const;
type Asked = keyof typeof asked;

/** The acts that make sense in a state, by the descriptions of their operations. */
const actsIn: Readonly<Record<Campaign["status"], readonly (ActName | Asked)[]>> = {
  draft: ["duplicate", "delete"],
  scheduled: ["unschedule", "cancel", "duplicate", "delete"],
  sending: ["pause", "cancel", "duplicate"],
  paused: ["resume", "cancel", "duplicate", "delete"],
  sent: ["duplicate", "delete"],
  cancelled: ["duplicate", "delete"],
};

export function useCampaignMenu(): {
  readonly menuOf: (campaign: Campaign) => ReactNode;
  readonly overlay: ReactNode;
} {
  const { workspace } = usePlace();
  const navigate = useNavigate();
  const [question, setQuestion] = useState<{ readonly act: Asked; readonly campaign: Campaign }>();
  const run = useCampaignAct();
  const entryOf = (act: ActName | Asked, campaign: Campaign): MenuAct[] => {
    const isAsked = act === "cancel" || act === "delete";
    const { name, operation } = isAsked ? asked[act] : actsOnce[act];
    if (!mayCall(workspace, operation)) return [];
    const start = () => (isAsked ? setQuestion({ act, campaign }) : run.mutate({ act, campaign }));
    return [{ name, run: start, isDanger: isAsked }];
  };
  const menuOf = (campaign: Campaign) => {
    const open = {
      name: "Open",
      run: () => void navigate({ to: `/${workspace.id}/campaigns/${campaign.id}` }),
    };
    const acts = actsIn[campaign.status].flatMap((act) => entryOf(act, campaign));
    return <ActMenu label={`Acts on ${campaign.name}`} acts={[open, ...acts]} />;
  };
  const close = () => setQuestion(undefined);
  const overlay = (
    <>
      {question?.act === "delete" && <DeleteQuestion campaign={question.campaign} onClose={close} />}
      {question?.act === "cancel" && <CancelQuestion {...countsOf(question.campaign)} onClose={close} />}
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

function countsOf(campaign: Campaign) {
  const { sent_count: left, total_recipients } = campaign;
  return { campaign, left, unsent: Math.max(0, total_recipients - left) };
}

/** Pause, resume, stop, cancel: what each does to the mail that is on its way, beside its button. */
import type { Data } from "@posthaste/client";
import { useState } from "react";
import { mayCall, usePlace } from "../../../api/session.tsx";
import { Button } from "../../../parts/button.tsx";
import { Failure } from "../../../parts/failure.tsx";
import { CancelQuestion } from "../cancel-question.tsx";
import { type ActName, actsOnce, isSoon, useCampaignAct } from "../use-campaign-act.ts";
import type { Progress } from "./use-progress.ts";

interface MainAct {
  readonly act: ActName;
  readonly consequence: string;
}

/** What the button of each state does; whether it is possible still, the service decides. */
const mainActs: Readonly<Record<Progress["status"], MainAct | undefined>> = {
  draft: undefined,
  scheduled: {
    act: "unschedule",
    consequence: "Nothing has left yet. Stopped, it is a draft again, with everything as it is.",
  },
  sending: {
    act: "pause",
    consequence:
      "Pausing breaks off messages that are being sent unless their server has all of them; no other begins. Resuming goes on from there.",
  },
  paused: {
    act: "resume",
    consequence: "Resuming goes on where it stopped. Who has left in between gets nothing.",
  },
  sent: undefined,
  cancelled: undefined,
};

interface Props {
  readonly campaign: Data<"getCampaign">;
  readonly progress: Progress;
}

export function CampaignActs({ campaign, progress }: Props) {
  const { workspace } = usePlace();
  const [isAsked, setAsked] = useState(false);
  const run = useCampaignAct();
  const main = mainActs[progress.status];
  if (main === undefined || !mayCall(workspace, actsOnce[main.act].operation)) return null;
  const { preparing, waiting, in_delivery, deferred } = progress.counts;
  return (
    <div className="flex flex-col items-start gap-2">
      <div className="flex flex-wrap gap-2">
        {/* One button that changes its act, so that the focus stays on it. */}
        <Button
          kind="primary"
          autoFocus={main.act === "unschedule" && isSoon(campaign)}
          onPress={() => run.mutate({ act: main.act, campaign })}
          isPending={run.isPending}
        >
          {actsOnce[main.act].name}
        </Button>
        {mayCall(workspace, "cancelCampaign") && (
          <Button onPress={() => setAsked(true)}>Cancel the campaign …</Button>
        )}
      </div>
      <p className="max-w-prose text-small text-muted">{main.consequence}</p>
      {run.error && <Failure error={run.error} />}
      {isAsked && (
        <CancelQuestion
          campaign={campaign}
          unsent={preparing + waiting + in_delivery + deferred}
          left={progress.attempted}
          onClose={() => setAsked(false)}
        />
      )}
    </div>
  );
}

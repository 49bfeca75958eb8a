/** Pause, resume, cancel, unschedule: what each does to the mail that is on its way, beside its button. */
import type { Data } from "@posthaste/client";
import { useState } from "react";
import { useAct } from "../../../api/act.ts";
import { mayCall, usePlace } from "../../../api/session.tsx";
import { Button } from "../../../parts/button.tsx";
import { Question } from "../../../parts/dialog.tsx";
import { Failure } from "../../../parts/failure.tsx";
import { counted } from "../../../parts/numbers.ts";
import { offerUndo } from "../../../parts/undo.tsx";
import type { Progress } from "./use-progress.ts";

type Status = Progress["status"];
type Act = "pause" | "resume" | "cancel" | "unschedule";

/** The acts that have a button in each state; whether one is possible the service decides. */
const actsOf: Readonly<Record<Status, readonly Act[]>> = {
  draft: [],
  scheduled: ["unschedule", "cancel"],
  sending: ["pause", "cancel"],
  paused: ["resume", "cancel"],
  sent: [],
  cancelled: [],
};

const changes = ["campaign", "campaigns", "campaign-progress"];
/** A time that is about to pass is no plan for the draft. */
const SOON_MS = 60_000;

interface Props {
  readonly campaign: Data<"getCampaign">;
  readonly progress: Progress;
}

export function CampaignActs({ campaign, progress }: Props) {
  const { api, workspace } = usePlace();
  const [isAsked, setAsked] = useState(false);
  const { id, name, scheduled_at } = campaign;
  const { status } = progress;
  const isSoon = scheduled_at !== null && Date.parse(scheduled_at) < Date.now() + SOON_MS;
  const resume = useAct({ run: () => api.resumeCampaign({ id }), changes, done: `${name} goes on` });
  const pause = useAct({
    run: () => api.pauseCampaign({ id }),
    changes,
    done: `${name} is paused`,
    onDone: () => offerUndo(`${name} is paused`, () => resume.mutate()),
  });
  const cancel = useAct({
    run: () => api.cancelCampaign({ id }),
    changes,
    done: `${name} is cancelled`,
    onDone: () => setAsked(false),
  });
  const unschedule = useAct({
    run: async () => {
      await api.unscheduleCampaign({ id });
      if (isSoon && mayCall(workspace, "updateCampaign")) {
        await api.updateCampaign({ id, query: { without: "content" }, body: { scheduled_at: null } });
      }
    },
    changes,
    done: `${name} is a draft again`,
  });
  if (!mayCall(workspace, "pauseCampaign")) return null;
  const acts = actsOf[status];
  const error = pause.error ?? resume.error ?? unschedule.error;
  const isBusy = pause.isPending || resume.isPending || unschedule.isPending;
  return (
    <div className="flex flex-col items-start gap-2">
      <div className="flex flex-wrap gap-2">
        {acts.includes("pause") && (
          <Button kind="primary" onPress={() => pause.mutate()} isPending={isBusy}>
            Pause
          </Button>
        )}
        {acts.includes("resume") && (
          <Button kind="primary" onPress={() => resume.mutate()} isPending={isBusy}>
            Resume
          </Button>
        )}
        {acts.includes("unschedule") && (
          <Button kind="primary" autoFocus={isSoon} onPress={() => unschedule.mutate()} isPending={isBusy}>
            Stop and edit
          </Button>
        )}
        {acts.includes("cancel") && <Button onPress={() => setAsked(true)}>Cancel the campaign …</Button>}
      </div>
      <p className="max-w-prose text-small text-muted">{consequences[status]}</p>
      {error && <Failure error={error} />}
      {isAsked && (
        <Question
          title={`Cancel ${name}?`}
          isOpen
          onClose={() => setAsked(false)}
          act="Cancel for good"
          onConfirm={() => cancel.mutate()}
          isPending={cancel.isPending}
          error={cancel.error}
        >
          {lossOf(progress)} This cannot be undone.
        </Question>
      )}
    </div>
  );
}

const consequences: Readonly<Record<Status, string>> = {
  draft: "",
  scheduled: "Nothing has left yet. “Stop and edit” makes it a draft again, with everything as it is.",
  sending:
    "Pausing breaks off messages that are being sent unless their server has all of them; no other begins. Resuming goes on from there.",
  paused: "Resuming goes on where it stopped. Who has left in between gets nothing.",
  sent: "",
  cancelled: "",
};

function lossOf({ counts, attempted }: Progress): string {
  const unsent = counts.preparing + counts.waiting + counts.in_delivery + counts.deferred;
  const kept = attempted === 0 ? "Nobody has been sent it." : `${counted(attempted, "message")} stay sent.`;
  return `${counted(unsent, "person", "people")} will not get it any more. ${kept}`;
}

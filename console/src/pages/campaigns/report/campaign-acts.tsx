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

interface MainAct {
  readonly act: "pause" | "resume" | "unschedule";
  readonly name: string;
  readonly consequence: string;
}

/** What the button of each state does; whether it is possible still, the service decides. */
const mainActs: Readonly<Record<Status, MainAct | undefined>> = {
  draft: undefined,
  scheduled: {
    act: "unschedule",
    name: "Stop and edit",
    consequence: "Nothing has left yet. Stopped, it is a draft again, with everything as it is.",
  },
  sending: {
    act: "pause",
    name: "Pause",
    consequence:
      "Pausing breaks off messages that are being sent unless their server has all of them; no other begins. Resuming goes on from there.",
  },
  paused: {
    act: "resume",
    name: "Resume",
    consequence: "Resuming goes on where it stopped. Who has left in between gets nothing.",
  },
  sent: undefined,
  cancelled: undefined,
};

const changes = ["campaign", "campaigns", "campaign-progress"];
/** A time that is about to pass is no plan for the draft. */
const SOON_MS = 60_000;
const MANY = 1_000;

interface Props {
  readonly campaign: Data<"getCampaign">;
  readonly progress: Progress;
}

export function CampaignActs({ campaign, progress }: Props) {
  const { api, workspace } = usePlace();
  const [isAsked, setAsked] = useState(false);
  const { id, name, scheduled_at } = campaign;
  const isSoon = scheduled_at !== null && Date.parse(scheduled_at) < Date.now() + SOON_MS;
  const resume = useAct({ run: () => api.resumeCampaign({ id }), changes, done: `${name} goes on` });
  const pause = useAct({
    run: () => api.pauseCampaign({ id }),
    changes,
    done: `${name} is paused`,
    onDone: () => offerUndo(`${name} is paused`, () => resume.mutate()),
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
  const main = mainActs[progress.status];
  if (main === undefined || !mayCall(workspace, "pauseCampaign")) return null;
  const error = pause.error ?? resume.error ?? unschedule.error;
  return (
    <div className="flex flex-col items-start gap-2">
      <div className="flex flex-wrap gap-2">
        {/* One button that changes its act, so that the focus stays on it. */}
        <Button
          kind="primary"
          autoFocus={main.act === "unschedule" && isSoon}
          onPress={() => ({ pause, resume, unschedule })[main.act].mutate()}
          isPending={pause.isPending || resume.isPending || unschedule.isPending}
        >
          {main.name}
        </Button>
        <Button onPress={() => setAsked(true)}>Cancel the campaign …</Button>
      </div>
      <p className="max-w-prose text-small text-muted">{main.consequence}</p>
      {error && <Failure error={error} />}
      {isAsked && <CancelQuestion id={id} name={name} progress={progress} onClose={() => setAsked(false)} />}
    </div>
  );
}

function CancelQuestion({
  id,
  name,
  progress: { counts, attempted },
  onClose,
}: {
  readonly id: string;
  readonly name: string;
  readonly progress: Progress;
  readonly onClose: () => void;
}) {
  const { api } = usePlace();
  const cancel = useAct({
    run: () => api.cancelCampaign({ id }),
    changes,
    done: `${name} is cancelled`,
    onDone: onClose,
  });
  const unsent = counts.preparing + counts.waiting + counts.in_delivery + counts.deferred;
  return (
    <Question
      title={`Cancel ${name}?`}
      isOpen
      onClose={onClose}
      act="Cancel for good"
      onConfirm={() => cancel.mutate()}
      isPending={cancel.isPending}
      error={cancel.error}
      {...(unsent > MANY && { typed: name })}
    >
      {counted(unsent, "person", "people")} will not get it any more.{" "}
      {attempted === 0 ? "Nobody has been sent it." : `${counted(attempted, "message")} stay sent.`} This
      cannot be undone.
    </Question>
  );
}

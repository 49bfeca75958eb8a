/** The same mail to those who did not open it: a segment of them, and a draft to it. Nothing is sent by this. */
import type { Data, Schema } from "@posthaste/client";
import { useNavigate } from "@tanstack/react-router";
import { useRef } from "react";
import { useAct } from "../../../api/act.ts";
import { usePlace } from "../../../api/session.tsx";
import { Button } from "../../../parts/button.tsx";
import { Dialog } from "../../../parts/dialog.tsx";
import { Failure } from "../../../parts/failure.tsx";

interface Props {
  readonly campaign: Data<"getCampaign">;
  readonly onClose: () => void;
}

export function RestDialog({ campaign: { id, name }, onClose }: Props) {
  const { api, workspace } = usePlace();
  const navigate = useNavigate();
  // What is made already when a later step fails, so that trying again makes no second one.
  const made = useRef<{ segment?: Schema<"Segment">; draft?: Data<"duplicateCampaign"> }>({});
  const make = useAct({
    run: async () => {
      made.current.segment ??= await api.createSegmentFromCampaign({
        id,
        body: { name: `${name}: did not open`, opened: false },
      });
      made.current.draft ??= await api.duplicateCampaign({ id });
      return api.updateCampaign({
        id: made.current.draft.id,
        query: { without: "content" },
        body: { name: `${name}, to the rest`, segment_id: made.current.segment.id },
      });
    },
    changes: ["campaigns", "segments"],
    done: ({ name: draft }) => `The draft ${draft} is made`,
    onDone: ({ id: draft }) => void navigate({ to: `/${workspace.id}/campaigns/${draft}` }),
  });
  return (
    <Dialog title="Send to those who did not open" isOpen onClose={onClose}>
      <div className="flex flex-col gap-3 text-muted">
        <p>
          This makes a segment of the people who got <b className="font-medium text-text">{name}</b> and
          neither opened it nor clicked in it, and a copy of the campaign as a draft to that segment.
        </p>
        <p>
          Nothing is sent. Change the subject, look at the audience, and send the draft when it is ready. Who
          opens the first mail until then leaves the segment by that.
        </p>
      </div>
      {make.error && (
        <div className="mt-4">
          <Failure error={make.error} />
        </div>
      )}
      <div className="mt-6 flex justify-end gap-2">
        <Button onPress={onClose}>Close</Button>
        <Button kind="primary" onPress={() => make.mutate()} isPending={make.isPending}>
          Make the draft
        </Button>
      </div>
    </Dialog>
  );
}

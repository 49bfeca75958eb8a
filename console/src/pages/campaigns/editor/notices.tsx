/** What the person should know of the draft while it is open: conflicts, changes of others, changes left from a former visit. */
import { useNavigate } from "@tanstack/react-router";
import { X } from "lucide-react";
import { type ReactNode, useState } from "react";
import { useAct } from "../../../api/act.ts";
import { usePlace } from "../../../api/session.tsx";
import { Button, IconButton } from "../../../parts/button.tsx";
import { Failure } from "../../../parts/failure.tsx";
import { Time } from "../../../parts/time.tsx";
import { copyBodyOf, fieldNames } from "./draft.ts";
import type { OpenDraft } from "./use-draft.ts";
import { ConflictDialog, FoundDialog } from "./versions.tsx";

export function Notices({ open, onChanged }: { readonly open: OpenDraft; readonly onChanged: () => void }) {
  const { campaign, state } = open;
  const { conflict, adopted, status } = state;
  const [isComparing, setComparing] = useState(conflict !== undefined);
  const [former, setFormer] = useState(conflict);
  // A new conflict is shown at once, and one that has ended no more.
  if (former !== conflict) {
    setFormer(conflict);
    setComparing(conflict !== undefined);
  }
  const [seen, setSeen] = useState(adopted);
  return (
    <>
      {conflict && (
        <Notice>
          Someone else changed {conflict.names.map((name) => fieldNames[name]).join(", ")} while you did.
          Nothing is saved in the service until you choose a version.
          <Button onPress={() => setComparing(true)}>Compare</Button>
        </Notice>
      )}
      {!conflict && adopted.length > 0 && adopted !== seen && (
        <Notice>
          Someone else changed {adopted.map((name) => fieldNames[name]).join(", ")}. Their version is taken
          over.
          <IconButton label="Close" icon={<X size={15} aria-hidden />} onPress={() => setSeen(adopted)} />
        </Notice>
      )}
      {status === "closed" && <Closed open={open} onChanged={onChanged} />}
      {campaign.approval_requested_at && state.revision === campaign.revision && (
        <Notice>
          <span>
            {campaign.approval_requested_by} asks for approval (<Time at={campaign.approval_requested_at} />)
            {campaign.approval_message ? `: “${campaign.approval_message}”` : "."} A change ends the request.
          </span>
        </Notice>
      )}
      {isComparing && <ConflictDialog {...open} onClose={() => setComparing(false)} />}
      <FoundDialog {...open} />
    </>
  );
}

/** The campaign was sent or deleted while it was open here: what was written becomes a campaign of its own. */
function Closed({
  open: { campaign, draft },
  onChanged,
}: {
  readonly open: OpenDraft;
  readonly onChanged: () => void;
}) {
  const { api, workspace } = usePlace();
  const navigate = useNavigate();
  const copy = useAct({
    run: () => api.createCampaign({ body: copyBodyOf(campaign, draft) }),
    changes: ["campaigns"],
    done: "What you wrote is a new draft",
    onDone: ({ id }) => void navigate({ to: `/${workspace.id}/campaigns/${id}` }),
  });
  return (
    <>
      <Notice>
        This campaign takes no changes any more. What you wrote is kept on this device.
        <Button onPress={() => copy.mutate()} isPending={copy.isPending}>
          Save it as a new draft
        </Button>
        <Button onPress={onChanged}>Open the campaign</Button>
      </Notice>
      {copy.error && <Failure error={copy.error} />}
    </>
  );
}

function Notice({ children }: { readonly children: ReactNode }) {
  return (
    <div
      role="status"
      className="flex shrink-0 flex-wrap items-center gap-x-3 gap-y-1 border-t border-line bg-selected px-6 py-2"
    >
      {children}
    </div>
  );
}

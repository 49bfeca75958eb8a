/** The head of the editor: the name, where it is saved, and what can be done with the draft. */
import { useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { Eye, Pencil } from "lucide-react";
import { lazy, Suspense, useState } from "react";
import { useAct } from "../../../api/act.ts";
import { mayCall, usePlace } from "../../../api/session.tsx";
import { ActMenu } from "../../../parts/act-menu.tsx";
import { Button } from "../../../parts/button.tsx";
import { Failure } from "../../../parts/failure.tsx";
import { DeleteQuestion } from "../delete-question.tsx";
import type { Check, Finding } from "../findings.tsx";
import { ApprovalDialog } from "./approval-dialog.tsx";
import type { Campaign } from "./draft.ts";
import { SaveState } from "./save-state.tsx";
import { TestDialog } from "./test-dialog.tsx";
import type { OpenDraft } from "./use-draft.ts";

const SendSheet = lazy(async () => ({ default: (await import("../send/send-sheet.tsx")).SendSheet }));

interface Props {
  readonly open: OpenDraft;
  readonly check: Check | undefined;
  readonly onChanged: () => void;
  readonly onFinding: (finding: Finding) => void;
  readonly showsPreview: boolean;
  readonly onPreview: () => void;
}

export function EditorHeader({ open, check, onChanged, onFinding, showsPreview, onPreview }: Props) {
  const { campaign, draft, edit, state, autosave } = open;
  const { api, workspace } = usePlace();
  const navigate = useNavigate();
  const queries = useQueryClient();
  const [overlay, setOverlay] = useState<"test" | "send" | "approval" | "delete">();
  const close = () => setOverlay(undefined);
  const duplicate = useAct({
    run: async () => {
      await autosave.saveNow();
      return api.duplicateCampaign({ id: campaign.id });
    },
    changes: ["campaigns"],
    done: ({ name }) => `${name} is a new draft`,
    onDone: ({ id }) => void navigate({ to: `/${workspace.id}/campaigns/${id}` }),
  });
  const send = async () => {
    await autosave.saveNow();
    setOverlay("send");
  };
  const asked = (version: Campaign) => {
    const { approval_requested_at, approval_requested_by, approval_message, revision } = version;
    const request = { approval_requested_at, approval_requested_by, approval_message, revision };
    queries.setQueryData(["campaign-draft", workspace.id, campaign.id], { ...campaign, ...request });
    close();
  };
  const isMail = campaign.message_type === "email";
  const maySend = mayCall(workspace, "sendCampaign");
  return (
    <>
      <header className="flex min-h-14 shrink-0 flex-wrap items-center gap-x-4 gap-y-1 px-6 py-2 max-md:px-4">
        <div className="min-w-0 flex-1 basis-56">
          <h1 className="sr-only">Campaign {draft.name}</h1>
          <input
            aria-label="Name of the campaign"
            value={draft.name}
            onChange={({ target }) => edit({ name: target.value })}
            className="-mx-2 h-8 w-full rounded-control border border-transparent bg-transparent px-2 text-title font-semibold tracking-[-0.01em] hover:border-line focus:border-accent"
          />
          <SaveState state={state} />
        </div>
        <div className="flex shrink-0 items-center gap-2">
          <Button className="lg:hidden" onPress={onPreview}>
            {showsPreview ? <Pencil size={15} aria-hidden /> : <Eye size={15} aria-hidden />}
            {showsPreview ? "Write" : "Preview"}
          </Button>
          {isMail && mayCall(workspace, "testCampaign") && (
            <Button onPress={() => setOverlay("test")}>Test …</Button>
          )}
          {maySend ? (
            <Button kind="primary" onPress={() => void send()}>
              Send …
            </Button>
          ) : (
            <Button kind="primary" onPress={() => setOverlay("approval")}>
              Ask for approval
            </Button>
          )}
          <ActMenu
            label="More acts"
            acts={[
              ...(state.aside
                ? [{ name: "Restore the version set aside", run: () => void autosave.restoreAside() }]
                : []),
              { name: "Duplicate", run: () => duplicate.mutate() },
              ...(mayCall(workspace, "deleteCampaign")
                ? [{ name: "Delete …", run: () => setOverlay("delete"), isDanger: true }]
                : []),
            ]}
          />
        </div>
      </header>
      {duplicate.error && <Failure error={duplicate.error} />}
      {overlay === "test" && <TestDialog open={open} check={check} onClose={close} />}
      {overlay === "approval" && <ApprovalDialog open={open} onClose={close} onAsked={asked} />}
      {overlay === "delete" && (
        <DeleteQuestion
          campaign={{ ...campaign, name: draft.name }}
          onClose={close}
          onDeleted={() => void navigate({ to: `/${workspace.id}/campaigns` })}
        />
      )}
      {overlay === "send" && (
        <Suspense fallback={null}>
          <SendSheet
            campaignId={campaign.id}
            onClose={close}
            onSent={onChanged}
            onFinding={(finding) => {
              close();
              onFinding(finding);
            }}
          />
        </Suspense>
      )}
    </>
  );
}

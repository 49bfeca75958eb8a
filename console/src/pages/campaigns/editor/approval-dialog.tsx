/** Asks those who may send the campaign to approve it. */
import schema from "schema:ApprovalRequest";
import { useState } from "react";
import { Form } from "react-aria-components";
import { fieldErrors, useAct } from "../../../api/act.ts";
import { usePlace } from "../../../api/session.tsx";
import { Button } from "../../../parts/button.tsx";
import { Dialog } from "../../../parts/dialog.tsx";
import { Failure } from "../../../parts/failure.tsx";
import { LongField } from "../../../parts/long-field.tsx";
import type { Campaign } from "./draft.ts";
import type { OpenDraft } from "./use-draft.ts";

export function ApprovalDialog({
  open: { campaign, draft, autosave },
  onClose,
  onAsked,
}: {
  readonly open: OpenDraft;
  readonly onClose: () => void;
  readonly onAsked: (campaign: Campaign) => void;
}) {
  const { api } = usePlace();
  const [message, setMessage] = useState("");
  const ask = useAct({
    run: async () => {
      await autosave.saveNow();
      return api.requestApproval({ id: campaign.id, body: { message: message.trim() || null } });
    },
    changes: ["campaigns", "notices"],
    done: "Those who may send it are asked",
    onDone: onAsked,
  });
  const maxLength = schema.properties.message?.maxLength;
  return (
    <Dialog title={`Ask for approval of “${draft.name}”`} isOpen onClose={onClose}>
      <Form
        validationErrors={fieldErrors(ask.error)}
        onSubmit={(event) => {
          event.preventDefault();
          ask.mutate();
        }}
        className="flex flex-col gap-4"
      >
        <p className="text-muted">
          Everyone who may send campaigns gets a notice. A later change of the draft ends the request.
        </p>
        <LongField
          name="message"
          label="What they should know"
          value={message}
          onChange={setMessage}
          {...(maxLength !== undefined && { maxLength })}
          autoFocus
        />
        {ask.error && <Failure error={ask.error} />}
        <div className="flex justify-end gap-2">
          <Button onPress={onClose}>Cancel</Button>
          <Button type="submit" kind="primary" isPending={ask.isPending}>
            Ask for approval
          </Button>
        </div>
      </Form>
    </Dialog>
  );
}

/** For those who write and may not send: the way to ask those who may. */
import schema from "schema:ApprovalRequest";
import type { Data } from "@posthaste/client";
import { Form } from "react-aria-components";
import { fieldErrors, useAct } from "../../../api/act.ts";
import { mayCall, usePlace } from "../../../api/session.tsx";
import { Button } from "../../../parts/button.tsx";
import { Failure } from "../../../parts/failure.tsx";
import { Field } from "../../../parts/field.tsx";
import { textIn } from "../../../parts/text-in-form.ts";
import { Time } from "../../../parts/time.tsx";

const { maxLength } = schema.properties.message ?? {};

interface Props {
  readonly campaign: Data<"getCampaign">;
  readonly onClose: () => void;
  readonly onAsked: () => void;
}

export function Approval({ campaign, onClose, onAsked }: Props) {
  const { api, workspace } = usePlace();
  const { id, approval_requested_at, approval_requested_by } = campaign;
  const ask = useAct({
    run: (message: string) => api.requestApproval({ id, body: message === "" ? {} : { message } }),
    changes: ["campaign", "campaigns", "notices"],
    done: "Those who may send are asked",
    onDone: onAsked,
  });
  if (!mayCall(workspace, "requestApproval")) {
    return <p className="text-muted">Your role ({workspace.role.name}) does not send campaigns.</p>;
  }
  if (approval_requested_at) {
    return (
      <p>
        {approval_requested_by} asked for approval of this version <Time at={approval_requested_at} />. It
        ends with the next change of the draft.
      </p>
    );
  }
  return (
    <Form
      validationErrors={fieldErrors(ask.error)}
      onSubmit={(event) => {
        event.preventDefault();
        ask.mutate(textIn(event.currentTarget, "message"));
      }}
      className="flex flex-col gap-4 border-t border-line pt-4"
    >
      <Field
        name="message"
        label="What those who approve should know"
        hint={`Your role (${workspace.role.name}) writes campaigns and does not send them. Those who send get a notice.`}
        {...(maxLength !== undefined && { maxLength })}
      />
      {ask.error && <Failure error={ask.error} />}
      <div className="flex justify-end gap-2">
        <Button onPress={onClose}>Back to the draft</Button>
        <Button type="submit" kind="primary" isPending={ask.isPending}>
          Ask for approval
        </Button>
      </div>
    </Form>
  );
}

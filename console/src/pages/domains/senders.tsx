/** Single addresses whose owner has confirmed that the workspace may send as them. */

import schema from "schema:VerifiedSenderInput";
import type { Data } from "@posthaste/client";
import { useState } from "react";
import { useAct } from "../../api/act.ts";
import { useVerifiedSenders } from "../../api/domains.ts";
import { mayCall, usePlace } from "../../api/session.tsx";
import { ActForm, FormActs } from "../../parts/act-form.tsx";
import { Button } from "../../parts/button.tsx";
import { Dialog, Question } from "../../parts/dialog.tsx";
import { Failure } from "../../parts/failure.tsx";
import { Field } from "../../parts/field.tsx";
import { Panel } from "../../parts/page.tsx";
import { SkeletonLines } from "../../parts/skeleton-lines.tsx";
import { StateMark } from "../../parts/state-mark.tsx";
import { Time } from "../../parts/time.tsx";

export function Senders() {
  const { workspace } = usePlace();
  const [isAdding, setAdding] = useState(false);
  const { data, error, refetch } = useVerifiedSenders();
  return (
    <Panel
      title="Single addresses"
      acts={
        mayCall(workspace, "createVerifiedSender") && (
          <Button onPress={() => setAdding(true)}>Add an address</Button>
        )
      }
    >
      {error && <Failure error={error} onRetry={() => refetch()} />}
      {!data && !error && <SkeletonLines count={1} />}
      {data?.length === 0 && (
        <p className="text-muted">An address whose owner confirms it may send without its domain.</p>
      )}
      <ul>
        {data?.map((sender) => (
          <SenderRow key={sender.id} sender={sender} />
        ))}
      </ul>
      {isAdding && <AddSender onClose={() => setAdding(false)} />}
    </Panel>
  );
}

function SenderRow({ sender }: { readonly sender: Data<"listVerifiedSenders">[number] }) {
  const { api, workspace } = usePlace();
  const [isRemoving, setRemoving] = useState(false);
  const { id, email, from_name, is_verified, token_expires_at } = sender;
  const again = useAct({
    run: () => api.resendVerifiedSenderLink({ id }),
    changes: ["senders"],
    done: `The link is sent to ${email}`,
  });
  const remove = useAct({
    run: () => api.deleteVerifiedSender({ id }),
    changes: ["senders"],
    done: `${email} is removed`,
  });
  const mayWrite = mayCall(workspace, "createVerifiedSender");
  return (
    <li className="flex min-h-11 flex-wrap items-center gap-x-4 gap-y-1 border-b border-line/60 py-1.5">
      <span className="min-w-0 flex-1 truncate">
        {email} {from_name && <span className="text-muted">{from_name}</span>}
      </span>
      {is_verified ? (
        <StateMark shape="●" tone="text-good" word="confirmed" />
      ) : (
        <span className="flex flex-wrap gap-x-2">
          <StateMark shape="◐" tone="text-warning" word="waits for its owner" />
          <span className="text-muted">
            link works until <Time at={token_expires_at} />
          </span>
        </span>
      )}
      {mayWrite && !is_verified && (
        <Button kind="quiet" onPress={() => again.mutate()} isPending={again.isPending}>
          Send the link again
        </Button>
      )}
      {mayWrite && (
        <Button kind="quiet" aria-label={`Remove ${email}`} onPress={() => setRemoving(true)}>
          Remove
        </Button>
      )}
      {again.error && <Failure error={again.error} />}
      <Question
        title={`Remove ${email}?`}
        act="Remove the address"
        isOpen={isRemoving}
        onClose={() => setRemoving(false)}
        onConfirm={() => remove.mutate()}
        isPending={remove.isPending}
        error={remove.error}
      >
        Mail from {email} is refused from then on. To send from it again, its owner has to confirm it again.
      </Question>
    </li>
  );
}

const { from_name: nameSchema } = schema.properties;

function AddSender({ onClose }: { readonly onClose: () => void }) {
  const { api } = usePlace();
  const add = useAct({
    run: (body: { email: string; from_name: string }) => api.createVerifiedSender({ body }),
    changes: ["senders"],
    done: ({ email }) => `A link is sent to ${email}`,
    onDone: onClose,
  });
  return (
    <Dialog title="Add an address" isOpen onClose={onClose}>
      <ActForm act={add} onSubmit={({ email = "", from_name = "" }) => add.mutate({ email, from_name })}>
        <Field
          name="email"
          type="email"
          label="Email"
          hint="Its owner gets a link to confirm it."
          isRequired
          autoFocus
        />
        <Field
          name="from_name"
          label="Name of the sender"
          {...(nameSchema?.maxLength && { maxLength: nameSchema.maxLength })}
        />
        <FormActs act={add} onCancel={onClose}>
          Send the link
        </FormActs>
      </ActForm>
    </Dialog>
  );
}

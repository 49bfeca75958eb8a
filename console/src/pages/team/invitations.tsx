/** Invitations that wait for an answer. */
import type { Schema } from "@posthaste/client";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useAct } from "../../api/act.ts";
import { mayCall, usePlace } from "../../api/session.tsx";
import { Button } from "../../parts/button.tsx";
import { Question } from "../../parts/dialog.tsx";
import { Failure } from "../../parts/failure.tsx";
import { StateMark } from "../../parts/state-mark.tsx";
import { Time } from "../../parts/time.tsx";

export function Invitations() {
  const { api, workspace } = usePlace();
  const { data, error, refetch } = useQuery({
    queryKey: ["invitations", workspace.id],
    queryFn: ({ signal }) => api.listInvitations({ signal }),
  });
  if (error) return <Failure error={error} onRetry={refetch} />;
  if (!data || data.length === 0) return null;
  return (
    <section className="pt-8">
      <h2 className="border-b border-line pb-2 text-[15px] font-semibold">Invited</h2>
      <ul>
        {data.map((one) => (
          <InvitationRow key={one.id} invitation={one} />
        ))}
      </ul>
    </section>
  );
}

function InvitationRow({ invitation }: { readonly invitation: Schema<"Invitation"> }) {
  const { api, workspace } = usePlace();
  const [isRevoking, setRevoking] = useState(false);
  const { id, email, role_name, invited_by, sent_at, expires_at, is_expired } = invitation;
  const again = useAct({
    run: () => api.resendInvitation({ id }),
    changes: ["invitations"],
    done: `${email} is invited again`,
  });
  const revoke = useAct({
    run: () => api.revokeInvitation({ id }),
    changes: ["invitations"],
    done: `The invitation of ${email} is revoked`,
    onDone: () => setRevoking(false),
  });
  return (
    <li className="flex min-h-14 flex-wrap items-center gap-x-4 gap-y-2 border-b border-line/60 py-2">
      <div className="min-w-0 flex-1 basis-64">
        <p className="truncate font-medium">{email}</p>
        <p className="text-muted">
          {role_name} · sent by {invited_by} <Time at={sent_at} /> · {is_expired ? "ended" : "ends"}{" "}
          <Time at={expires_at} />
        </p>
      </div>
      {is_expired && <StateMark shape="▲" tone="text-warning" word="expired" />}
      {mayCall(workspace, "resendInvitation") && (
        <>
          <Button
            kind="quiet"
            aria-label={`Send again the invitation of ${email}`}
            onPress={() => again.mutate()}
            isPending={again.isPending}
          >
            Send again
          </Button>
          <Button
            kind="quiet"
            aria-label={`Revoke the invitation of ${email}`}
            onPress={() => setRevoking(true)}
          >
            Revoke
          </Button>
        </>
      )}
      {again.error && (
        <div className="w-full">
          <Failure error={again.error} />
        </div>
      )}
      <Question
        title={`Revoke the invitation of ${email}?`}
        isOpen={isRevoking}
        onClose={() => setRevoking(false)}
        act="Revoke"
        onConfirm={() => revoke.mutate()}
        isPending={revoke.isPending}
        error={revoke.error}
      >
        The link in the mail stops working at once. You can invite {email} again later.
      </Question>
    </li>
  );
}

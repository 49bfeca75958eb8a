/** The team: teammates with their roles, and invitations that wait. */
import type { Data } from "@posthaste/client";
import { useQuery } from "@tanstack/react-query";
import { UserPlus } from "lucide-react";
import { useState } from "react";
import { Form } from "react-aria-components";
import { fieldErrors, useAct } from "../../api/act.ts";
import { mayCall, usePlace } from "../../api/session.tsx";
import { Button } from "../../parts/button.tsx";
import { Choice } from "../../parts/choice.tsx";
import { Dialog, Question } from "../../parts/dialog.tsx";
import { Failure } from "../../parts/failure.tsx";
import { Field } from "../../parts/field.tsx";
import { Page, Panel } from "../../parts/page.tsx";
import { Time } from "../../parts/time.tsx";

type Teammate = Data<"listTeammates">[number];
type Role = Data<"listRoles">[number];

export function TeamPage() {
  const { api, workspace } = usePlace();
  const [isInviting, setInviting] = useState(false);
  const team = useQuery({
    queryKey: ["team", workspace.id],
    queryFn: ({ signal }) => api.listTeammates({ signal }),
  });
  const invitations = useQuery({
    queryKey: ["invitations", workspace.id],
    queryFn: ({ signal }) => api.listInvitations({ signal }),
  });
  const { data: roles = [] } = useQuery({
    queryKey: ["roles", workspace.id],
    queryFn: ({ signal }) => api.listRoles({ signal }),
  });
  const mayWrite = mayCall(workspace, "inviteTeammate");
  return (
    <Page
      title="Team"
      acts={
        mayWrite && (
          <Button kind="primary" onPress={() => setInviting(true)}>
            <UserPlus size={16} aria-hidden /> Invite
          </Button>
        )
      }
    >
      {team.error && <Failure error={team.error} onRetry={() => team.refetch()} />}
      <ul className="border-t border-line">
        {team.data?.map((one) => (
          <TeammateRow key={one.id} teammate={one} roles={roles} mayWrite={mayWrite} />
        ))}
      </ul>
      {invitations.data && invitations.data.length > 0 && (
        <Panel title="Invited">
          <ul>
            {invitations.data.map((one) => (
              <InvitationRow key={one.id} invitation={one} mayWrite={mayWrite} />
            ))}
          </ul>
        </Panel>
      )}
      {isInviting && <InviteDialog roles={roles} onClose={() => setInviting(false)} />}
    </Page>
  );
}

function TeammateRow({
  teammate,
  roles,
  mayWrite,
}: {
  readonly teammate: Teammate;
  readonly roles: readonly Role[];
  readonly mayWrite: boolean;
}) {
  const { api, session } = usePlace();
  const [isLeaving, setLeaving] = useState(false);
  const { id, name, email, role, role_name, joined_at } = teammate;
  const isMe = id === session.person.id;
  const change = useAct({
    run: (next: string) => api.updateTeammate({ id, body: { role: next } }),
    changes: ["team"],
    done: `${name} has another role`,
  });
  const remove = useAct({
    run: () => api.removeTeammate({ id }),
    changes: ["team"],
    done: `${name} is no longer in the team`,
    onDone: () => setLeaving(false),
  });
  return (
    <li className="flex min-h-14 flex-wrap items-center gap-x-4 gap-y-2 border-b border-line py-2">
      <div className="min-w-0 flex-1">
        <p className="truncate font-medium">
          {name} {isMe && <span className="font-normal text-muted">(you)</span>}
        </p>
        <p className="truncate text-muted">
          {email} · joined <Time at={joined_at} />
        </p>
      </div>
      {mayWrite ? (
        <div className="w-44">
          <Choice
            label={`Role of ${name}`}
            isBare
            options={roles.map((one) => ({ id: one.id, name: one.name, description: one.description ?? "" }))}
            value={role}
            onChange={(next) => next !== role && change.mutate(String(next))}
          />
        </div>
      ) : (
        <span className="text-muted">{role_name}</span>
      )}
      {mayWrite && !isMe && (
        <Button kind="quiet" onPress={() => setLeaving(true)}>
          Remove
        </Button>
      )}
      {change.error && <Failure error={change.error} />}
      <Question
        title={`Remove ${name}?`}
        isOpen={isLeaving}
        onClose={() => setLeaving(false)}
        act="Remove"
        onConfirm={() => remove.mutate()}
        isPending={remove.isPending}
        error={remove.error}
      >
        {name} can no longer open this workspace. What they made stays.
      </Question>
    </li>
  );
}

function InvitationRow({
  invitation,
  mayWrite,
}: {
  readonly invitation: Data<"listInvitations">[number];
  readonly mayWrite: boolean;
}) {
  const { api } = usePlace();
  const { id, email, role_name, expires_at, is_expired } = invitation;
  const again = useAct({
    run: () => api.resendInvitation({ id }),
    changes: ["invitations"],
    done: `${email} is invited again`,
  });
  const revoke = useAct({
    run: () => api.revokeInvitation({ id }),
    changes: ["invitations"],
    done: `The invitation of ${email} is revoked`,
  });
  return (
    <li className="flex min-h-12 items-center gap-3 border-b border-line/60 py-2">
      <div className="min-w-0 flex-1">
        <p className="truncate">{email}</p>
        <p className="text-small text-muted">
          {role_name} · {is_expired ? "expired" : "expires"} <Time at={expires_at} />
        </p>
        {(again.error ?? revoke.error) && <Failure error={again.error ?? revoke.error} />}
      </div>
      {mayWrite && (
        <>
          <Button kind="quiet" onPress={() => again.mutate()} isPending={again.isPending}>
            Send again
          </Button>
          <Button kind="quiet" onPress={() => revoke.mutate()} isPending={revoke.isPending}>
            Revoke
          </Button>
        </>
      )}
    </li>
  );
}

function InviteDialog({ roles, onClose }: { readonly roles: readonly Role[]; readonly onClose: () => void }) {
  const { api } = usePlace();
  const invite = useAct({
    run: (body: { email: string; role: string }) => api.inviteTeammate({ body }),
    changes: ["invitations"],
    done: ({ email }) => `${email} is invited`,
    onDone: onClose,
  });
  return (
    <Dialog title="Invite to the team" isOpen onClose={onClose}>
      <Form
        validationErrors={fieldErrors(invite.error)}
        onSubmit={(event) => {
          event.preventDefault();
          invite.mutate(
            Object.fromEntries(new FormData(event.currentTarget)) as { email: string; role: string },
          );
        }}
        className="flex flex-col gap-4"
      >
        <Field name="email" type="email" label="Email" isRequired autoFocus />
        <Choice
          name="role"
          label="Role"
          isRequired
          options={roles.map(({ id, name, description }) => ({ id, name, description: description ?? "" }))}
        />
        {invite.error && <Failure error={invite.error} />}
        <div className="mt-2 flex justify-end gap-2">
          <Button onPress={onClose}>Cancel</Button>
          <Button type="submit" kind="primary" isPending={invite.isPending}>
            Send the invitation
          </Button>
        </div>
      </Form>
    </Dialog>
  );
}

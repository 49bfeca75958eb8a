/** Inviting a person by mail, with a role. */

import schema from "schema:NewInvitation";
import type { Body } from "@posthaste/client";
import { UserPlus } from "lucide-react";
import { useState } from "react";
import { useAct } from "../../api/act.ts";
import { usePlace } from "../../api/session.tsx";
import { ActForm, FormActs } from "../../parts/act-form.tsx";
import { Button } from "../../parts/button.tsx";
import { Dialog } from "../../parts/dialog.tsx";
import { Field } from "../../parts/field.tsx";
import { useNew } from "../../parts/use-new.ts";
import { RoleChoice } from "./role-choice.tsx";

export function Invite() {
  const [isOpen, setOpen] = useNew();
  return (
    <>
      <Button kind="primary" onPress={() => setOpen(true)}>
        <UserPlus size={16} aria-hidden /> Invite
      </Button>
      {isOpen && <InviteDialog onClose={() => setOpen(false)} />}
    </>
  );
}

function InviteDialog({ onClose }: { readonly onClose: () => void }) {
  const { api } = usePlace();
  const [role, setRole] = useState<string | null>(null);
  const invite = useAct({
    run: (body: Body<"inviteTeammate">) => api.inviteTeammate({ body }),
    changes: ["invitations"],
    done: ({ email }) => `${email} is invited`,
    onDone: onClose,
  });
  return (
    <Dialog title="Invite to the team" isOpen onClose={onClose}>
      <ActForm
        act={invite}
        onSubmit={({ email = "" }) => {
          if (role !== null) invite.mutate({ email, role });
        }}
      >
        <Field
          name="email"
          type="email"
          label="Email"
          hint="A link that works once is mailed to it."
          maxLength={schema.properties.email?.maxLength ?? 0}
          isRequired
          autoFocus
        />
        <RoleChoice label="Role" value={role} onChange={setRole} />
        <FormActs act={invite} onCancel={onClose}>
          Send the invitation
        </FormActs>
      </ActForm>
    </Dialog>
  );
}

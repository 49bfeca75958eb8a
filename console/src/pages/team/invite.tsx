/** Inviting a person by mail, with a role. */
import schema from "schema:NewInvitation";
import type { Body } from "@posthaste/client";
import { UserPlus } from "lucide-react";
import { useState } from "react";
import { Form } from "react-aria-components";
import { fieldErrors, useAct } from "../../api/act.ts";
import { usePlace } from "../../api/session.tsx";
import { Button } from "../../parts/button.tsx";
import { Dialog } from "../../parts/dialog.tsx";
import { Field } from "../../parts/field.tsx";
import { fieldOf } from "../../parts/form-fields.ts";
import { Refusal } from "../../parts/refusal.tsx";
import { RoleChoice } from "./role-choice.tsx";

export function Invite() {
  const [isOpen, setOpen] = useState(false);
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
      <Form
        validationErrors={fieldErrors(invite.error)}
        onSubmit={(event) => {
          const email = fieldOf(event, "email");
          if (role !== null) invite.mutate({ email, role });
        }}
        className="flex flex-col gap-4"
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
        <Refusal error={invite.error} />
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

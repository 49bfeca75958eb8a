/** Making or changing a role: its name, what it is for, and what it may do. */

import schema from "schema:NewRole";
import type { Body } from "@posthaste/client";
import { useState } from "react";
import { useAct } from "../../api/act.ts";
import { holds, usePlace } from "../../api/session.tsx";
import { ActForm, FormActs } from "../../parts/act-form.tsx";
import { Dialog } from "../../parts/dialog.tsx";
import { Field } from "../../parts/field.tsx";
import { counted } from "../../parts/numbers.ts";
import { PermissionTree } from "../../parts/permission-tree.tsx";
import type { Role } from "./role-choice.tsx";

interface Props {
  /** The role to change, or the one to begin from. */
  readonly role?: Role;
  readonly isNew: boolean;
  readonly onClose: () => void;
}

const longest = (field: string) => schema.properties[field]?.maxLength ?? 0;

export function RoleDialog({ role, isNew, onClose }: Props) {
  const { api, workspace } = usePlace();
  const [chosen, setChosen] = useState<readonly string[]>(
    // A new role can have only what its maker has.
    () => role?.permissions.filter((one) => !isNew || holds(workspace.permissions, one)) ?? [],
  );
  const [isAsked, setAsked] = useState(false);
  const save = useAct({
    run: (body: Body<"createRole">) =>
      isNew || !role ? api.createRole({ body }) : api.updateRole({ id: role.id, body }),
    changes: ["roles", "team", "session"],
    done: ({ name }) => `The role ${name} is ${isNew ? "made" : "changed"}`,
    onDone: onClose,
  });
  return (
    <Dialog title={isNew ? "New role" : `Change the role ${role?.name}`} isOpen isWide onClose={onClose}>
      <ActForm
        act={save}
        onSubmit={({ name = "", description = "" }) => {
          setAsked(true);
          if (chosen.length > 0) save.mutate({ name, description, permissions: [...chosen] });
        }}
      >
        <Field
          name="name"
          label="Name"
          defaultValue={isNew ? "" : (role?.name ?? "")}
          maxLength={longest("name")}
          isRequired
          autoFocus
        />
        <Field
          name="description"
          label="What it is for"
          defaultValue={role?.description ?? ""}
          maxLength={longest("description")}
        />
        <PermissionTree label="Its people may" chosen={chosen} onChange={setChosen} />
        {isAsked && chosen.length === 0 && (
          <p role="alert" className="text-small text-bad">
            Choose at least one permission.
          </p>
        )}
        {!isNew && role !== undefined && role.teammate_count > 0 && (
          <p className="text-muted">
            {counted(role.teammate_count, "person has", "people have")} it: the change holds for them from
            their next request.
          </p>
        )}
        <FormActs act={save} onCancel={onClose}>
          {isNew ? "Make the role" : "Save"}
        </FormActs>
      </ActForm>
    </Dialog>
  );
}

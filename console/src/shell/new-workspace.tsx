/** A new workspace, for people who operate the installation. */

import schema from "schema:NewWorkspace";
import { useNavigate } from "@tanstack/react-router";
import { useAct } from "../api/act.ts";
import { apiOf } from "../api/client.ts";
import { ActForm, FormActs } from "../parts/act-form.tsx";
import { Dialog } from "../parts/dialog.tsx";
import { Field } from "../parts/field.tsx";
import { browserZone } from "../parts/time.tsx";

export function NewWorkspaceDialog({ onClose }: { readonly onClose: () => void }) {
  const navigate = useNavigate();
  const create = useAct({
    run: (name: string) =>
      apiOf(undefined).createWorkspace({
        body: { name, timezone: browserZone },
      }),
    changes: ["session"],
    done: ({ name }) => `The workspace ${name} is created`,
    onDone: ({ id }) => {
      onClose();
      void navigate({ to: `/${id}/` });
    },
  });
  return (
    <Dialog title="Create a workspace" isOpen onClose={onClose}>
      <ActForm act={create} onSubmit={({ name = "" }) => create.mutate(name)}>
        <Field
          name="name"
          label="Name"
          hint="It has its own people, domains, keys and figures. You will be its owner."
          {...(schema.properties.name?.maxLength && { maxLength: schema.properties.name.maxLength })}
          isRequired
          autoFocus
        />
        <FormActs act={create} onCancel={onClose}>
          Create
        </FormActs>
      </ActForm>
    </Dialog>
  );
}

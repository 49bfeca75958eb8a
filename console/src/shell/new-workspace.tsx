/** A new workspace, for people who operate the installation. */
import schema from "schema:NewWorkspace";
import { useNavigate } from "@tanstack/react-router";
import { Form } from "react-aria-components";
import { fieldErrors, hasFieldErrors, useAct } from "../api/act.ts";
import { apiOf } from "../api/client.ts";
import { Button } from "../parts/button.tsx";
import { Dialog } from "../parts/dialog.tsx";
import { Failure } from "../parts/failure.tsx";
import { Field } from "../parts/field.tsx";
import { fieldOf } from "../parts/form-fields.ts";

export function NewWorkspaceDialog({ onClose }: { readonly onClose: () => void }) {
  const navigate = useNavigate();
  const create = useAct({
    run: (name: string) =>
      apiOf(undefined).createWorkspace({
        body: { name, timezone: Intl.DateTimeFormat().resolvedOptions().timeZone },
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
      <Form
        validationErrors={fieldErrors(create.error)}
        onSubmit={(event) => {
          create.mutate(fieldOf(event, "name"));
        }}
        className="flex flex-col gap-4"
      >
        <Field
          name="name"
          label="Name"
          hint="It has its own people, domains, keys and figures. You will be its owner."
          {...(schema.properties.name?.maxLength && { maxLength: schema.properties.name.maxLength })}
          isRequired
          autoFocus
        />
        {create.error && !hasFieldErrors(create.error) && <Failure error={create.error} />}
        <div className="mt-2 flex justify-end gap-2">
          <Button onPress={onClose}>Cancel</Button>
          <Button type="submit" kind="primary" isPending={create.isPending}>
            Create
          </Button>
        </div>
      </Form>
    </Dialog>
  );
}

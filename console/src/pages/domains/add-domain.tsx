/** A domain to send from: its name, then straight to its records. */
import schema from "schema:SendingDomainInput";
import { useNavigate } from "@tanstack/react-router";
import { Form } from "react-aria-components";
import { fieldErrors, hasFieldErrors, useAct } from "../../api/act.ts";
import { usePlace } from "../../api/session.tsx";
import { Button } from "../../parts/button.tsx";
import { Dialog } from "../../parts/dialog.tsx";
import { Failure } from "../../parts/failure.tsx";
import { Field } from "../../parts/field.tsx";
import { fieldOf } from "../../parts/form-fields.ts";

export function AddDomain({ onClose }: { readonly onClose: () => void }) {
  const { api, workspace } = usePlace();
  const navigate = useNavigate();
  const add = useAct({
    run: (domain: string) => api.createSendingDomain({ body: { domain } }),
    changes: ["domains", "dashboard"],
    done: ({ domain }) => `${domain} is added`,
    onDone: ({ id }) => navigate({ to: `/${workspace.id}/domains/${id}` }),
  });
  return (
    <Dialog title="Add a domain" isOpen onClose={onClose}>
      <Form
        validationErrors={fieldErrors(add.error)}
        onSubmit={(event) => add.mutate(fieldOf(event, "domain"))}
        className="flex flex-col gap-4"
      >
        <Field
          name="domain"
          label="Domain"
          hint="The part of your sender's address after the @."
          placeholder="mail.example.com"
          {...(schema.properties.domain?.maxLength && { maxLength: schema.properties.domain.maxLength })}
          isRequired
          autoFocus
        />
        {add.error && !hasFieldErrors(add.error) && <Failure error={add.error} />}
        <div className="mt-2 flex justify-end gap-2">
          <Button onPress={onClose}>Cancel</Button>
          <Button type="submit" kind="primary" isPending={add.isPending}>
            Add
          </Button>
        </div>
      </Form>
    </Dialog>
  );
}

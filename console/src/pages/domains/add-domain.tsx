/** A domain to send from: its name, then straight to its records. */

import schema from "schema:SendingDomainInput";
import { useNavigate } from "@tanstack/react-router";
import { useAct } from "../../api/act.ts";
import { usePlace } from "../../api/session.tsx";
import { ActForm, FormActs } from "../../parts/act-form.tsx";
import { Dialog } from "../../parts/dialog.tsx";
import { Field } from "../../parts/field.tsx";

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
      <ActForm act={add} onSubmit={({ domain = "" }) => add.mutate(domain)}>
        <Field
          name="domain"
          label="Domain"
          hint="The part of your sender's address after the @."
          placeholder="mail.example.com"
          {...(schema.properties.domain?.maxLength && { maxLength: schema.properties.domain.maxLength })}
          isRequired
          autoFocus
        />
        <FormActs act={add} onCancel={onClose}>
          Add
        </FormActs>
      </ActForm>
    </Dialog>
  );
}

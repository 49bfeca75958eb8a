/** The first person of an installation, by the one-time link that a start prints. */

import schema from "schema:FirstOwner";
import { PosthasteError } from "@posthaste/client";
import { useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { openApi } from "../../api/client.ts";
import { useOnce } from "../../api/once.ts";
import { takeSession } from "../../api/session.tsx";
import { ActForm } from "../../parts/act-form.tsx";
import { Failure } from "../../parts/failure.tsx";
import { Field } from "../../parts/field.tsx";
import { Submit } from "../../parts/refusal.tsx";
import { browserZone } from "../../parts/time.tsx";
import { ZonePicker } from "../../parts/zone-picker.tsx";
import { Column } from "./column.tsx";
import { ToSignIn, WithToken } from "./link.tsx";
import { NewPassword } from "./new-password.tsx";

const longest = (field: string) => schema.properties[field]?.maxLength ?? 0;

export function WelcomePage() {
  return <WithToken>{(token) => <FirstOwner key={token} token={token} />}</WithToken>;
}

function FirstOwner({ token }: { readonly token: string }) {
  const queries = useQueryClient();
  const navigate = useNavigate();
  const [timezone, setTimezone] = useState(browserZone);
  const create = useOnce({
    mutationFn: ({
      name = "",
      email = "",
      password = "",
      workspace_name = "",
    }: Readonly<Record<string, string>>) =>
      openApi.createFirstOwner({ body: { token, timezone, name, email, password, workspace_name } }),
    onSuccess: async (session) => {
      takeSession(queries, session);
      await navigate({ to: "/", hash: "" });
    },
  });
  if (create.error instanceof PosthasteError && create.error.status === 404)
    return (
      <Column title="This link works no more">
        <Failure error={create.error} />
        <ToSignIn>Sign in with an account</ToSignIn>
      </Column>
    );
  return (
    <Column title="Welcome to Posthaste">
      <ActForm act={create} onSubmit={(texts) => create.mutate(texts)}>
        <Field
          name="name"
          label="Your name"
          autoComplete="name"
          maxLength={longest("name")}
          isRequired
          autoFocus
        />
        <Field name="email" type="email" label="Email" autoComplete="username" isRequired />
        <NewPassword />
        <Field
          name="workspace_name"
          label="Workspace"
          hint="Usually the name of your organisation."
          maxLength={longest("workspace_name")}
          isRequired
        />
        <ZonePicker
          label="Time zone of the workspace"
          hint="Days and months of reports follow it."
          value={timezone}
          onChange={setTimezone}
        />
        <Submit error={create.error} isPending={create.isPending}>
          Create
        </Submit>
      </ActForm>
    </Column>
  );
}

/** The first person of an installation, by the one-time link that a start prints. */
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { Form } from "react-aria-components";
import { apiOf } from "../../api/client.ts";
import { sessionQuery } from "../../api/session.tsx";
import { Button } from "../../parts/button.tsx";
import { Failure } from "../../parts/failure.tsx";
import { Field } from "../../parts/field.tsx";
import { Column } from "./column.tsx";

const api = apiOf(undefined);
const token = location.hash.slice(1);

export function WelcomePage() {
  const queries = useQueryClient();
  const navigate = useNavigate();
  const create = useMutation({
    mutationFn: (fields: Record<string, string>) =>
      api.createFirstOwner({
        body: { ...fields, token, timezone: Intl.DateTimeFormat().resolvedOptions().timeZone } as never,
      }),
    onSuccess: async () => {
      await queries.resetQueries({ queryKey: sessionQuery.queryKey });
      await navigate({ to: "/", hash: "" });
    },
  });
  return (
    <Column title="Welcome to Posthaste">
      <Form
        className="flex flex-col gap-4"
        onSubmit={(event) => {
          event.preventDefault();
          create.mutate(Object.fromEntries(new FormData(event.currentTarget)) as Record<string, string>);
        }}
      >
        <Field name="name" label="Your name" autoComplete="name" isRequired autoFocus />
        <Field name="email" type="email" label="Email" autoComplete="username" isRequired />
        <Field
          name="password"
          type="password"
          label="Password"
          hint="At least 10 characters. A few unrelated words are good."
          autoComplete="new-password"
          isRequired
        />
        <Field
          name="workspace_name"
          label="Workspace"
          hint="Usually the name of your organisation."
          isRequired
        />
        <Button type="submit" kind="primary" className="h-10" isPending={create.isPending}>
          Create
        </Button>
      </Form>
      {create.error && (
        <div className="mt-4">
          <Failure error={create.error} />
        </div>
      )}
    </Column>
  );
}

/** The address that one signs in with. Another one counts when its owner has opened the link that is mailed to it. */

import { useAct } from "../../api/act.ts";
import { apiOf } from "../../api/client.ts";
import { usePlace } from "../../api/session.tsx";
import { ActForm } from "../../parts/act-form.tsx";
import { Button } from "../../parts/button.tsx";
import { Field } from "../../parts/field.tsx";
import { Refusal } from "../../parts/refusal.tsx";
import { Time } from "../../parts/time.tsx";

export function Address() {
  const { person } = usePlace().session;
  const change = useAct({
    run: (email: string) => apiOf(undefined).changeEmail({ body: { email } }),
    changes: [],
    done: ({ email }) => `A link is mailed to ${email}`,
  });
  return (
    <ActForm
      act={change}
      className="flex max-w-md flex-col gap-4"
      onSubmit={({ email = "" }) => change.mutate(email)}
    >
      <p>
        You sign in with <span className="font-medium">{person.email}</span>.
      </p>
      <Field
        name="email"
        type="email"
        label="New address"
        hint="A link to confirm it is mailed to it. The present address stays until then."
        autoComplete="email"
        isRequired
      />
      <Refusal error={change.error} />
      {change.data && (
        <p role="status">
          Open the link in the mail to {change.data.email}. It works until{" "}
          <Time at={change.data.expires_at} isPrecise />.
        </p>
      )}
      <div>
        <Button type="submit" isPending={change.isPending}>
          Mail the link
        </Button>
      </div>
    </ActForm>
  );
}

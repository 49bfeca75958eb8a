/** Changing the password, or choosing the first one. Other sessions end with it. */

import { useRef } from "react";
import { useAct } from "../../api/act.ts";
import { apiOf } from "../../api/client.ts";
import { usePlace } from "../../api/session.tsx";
import { ActForm } from "../../parts/act-form.tsx";
import { Field } from "../../parts/field.tsx";
import { Submit } from "../../parts/refusal.tsx";
import { NewPassword } from "../sign-in/new-password.tsx";

export function Password() {
  const { person } = usePlace().session;
  const form = useRef<HTMLFormElement>(null);
  const change = useAct({
    run: (given: Readonly<Record<string, string>>) => {
      const { new_password = "", current_password } = given;
      const body = { new_password, ...(current_password !== undefined && { current_password }) };
      // The form counts down by itself.
      return apiOf(undefined).changePassword({ body, retries: 0 });
    },
    changes: ["session", "sessions"],
    done: "Your password is changed; your other sessions have ended",
    onDone: () => form.current?.reset(),
  });
  return (
    <ActForm
      act={change}
      ref={form}
      className="flex max-w-md flex-col gap-4"
      onSubmit={(texts) => change.mutate(texts)}
    >
      {person.has_password && (
        <Field
          name="current_password"
          type="password"
          label="Present password"
          autoComplete="current-password"
          isRequired
        />
      )}
      <NewPassword name="new_password" label="New password" />
      {change.data && <p role="status">Your password is changed. Your other sessions have ended.</p>}
      <div className="flex flex-col items-start gap-4">
        <Submit kind="plain" error={change.error} isPending={change.isPending}>
          {person.has_password ? "Change the password" : "Choose the password"}
        </Submit>
      </div>
    </ActForm>
  );
}

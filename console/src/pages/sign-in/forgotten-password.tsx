/** Asks for a link to choose a new password. The answer is the same for every address. */

import type { ReactNode } from "react";
import { openApi } from "../../api/client.ts";
import { useOnce } from "../../api/once.ts";
import { useSignInWays } from "../../api/sign-in-ways.ts";
import { ActForm } from "../../parts/act-form.tsx";
import { Field } from "../../parts/field.tsx";
import { Submit } from "../../parts/refusal.tsx";

export function ForgottenPassword({ back }: { readonly back: ReactNode }) {
  const ways = useSignInWays();
  const ask = useOnce({
    mutationFn: (email: string) => openApi.requestPasswordReset({ body: { email } }).withResponse(),
  });
  if (ask.data)
    return (
      <>
        <p role="status">
          {ask.data.message}.
          {ways.data?.captures_mail && " Mail stays on this machine: it is in the inbox at /inbox."}
        </p>
        {back}
      </>
    );
  return (
    <>
      <ActForm act={ask} onSubmit={({ email = "" }) => ask.mutate(email)}>
        <Field
          name="email"
          type="email"
          label="Email"
          hint="A link to choose a new password is mailed to it."
          autoComplete="username"
          isRequired
          autoFocus
        />
        <Submit error={ask.error} isPending={ask.isPending}>
          Send the link
        </Submit>
      </ActForm>
      {back}
    </>
  );
}

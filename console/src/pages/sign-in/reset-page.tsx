/** Choosing a new password with the link of a mail, or of the command line. */

import { PosthasteError } from "@posthaste/client";
import { openApi } from "../../api/client.ts";
import { useOnce } from "../../api/once.ts";
import { ActForm } from "../../parts/act-form.tsx";
import { Failure } from "../../parts/failure.tsx";
import { Submit } from "../../parts/refusal.tsx";
import { Column } from "./column.tsx";
import { ForgottenPassword } from "./forgotten-password.tsx";
import { ToSignIn, WithToken } from "./link.tsx";
import { NewPassword } from "./new-password.tsx";

export function ResetPage() {
  return <WithToken>{(token) => <NewPasswordForm key={token} token={token} />}</WithToken>;
}

function NewPasswordForm({ token }: { readonly token: string }) {
  const reset = useOnce({
    mutationFn: (password: string) => openApi.resetPassword({ body: { token, password } }),
  });
  if (reset.data)
    return (
      <Column title="Your password is changed">
        <p role="status">
          {reset.data.email} signs in with it from now on. All sessions have ended; second factors are as they
          were.
        </p>
        <ToSignIn kind="primary">Sign in</ToSignIn>
      </Column>
    );
  if (reset.error instanceof PosthasteError && reset.error.status === 404)
    return (
      <Column title="This link works no more">
        <Failure error={reset.error} />
        <ForgottenPassword back={<ToSignIn kind="quiet">Back to the sign-in</ToSignIn>} />
      </Column>
    );
  return (
    <Column title="Choose a new password">
      <ActForm act={reset} onSubmit={({ password = "" }) => reset.mutate(password)}>
        <NewPassword label="New password" />
        <Submit error={reset.error} isPending={reset.isPending}>
          Change the password
        </Submit>
      </ActForm>
    </Column>
  );
}

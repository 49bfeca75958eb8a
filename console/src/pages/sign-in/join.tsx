/** Accepts an invitation: at once for the person who is signed in; others choose a name and a password, or sign in first. */

import schema from "schema:InvitationAcceptance";
import type { Body } from "@posthaste/client";
import { openApi } from "../../api/client.ts";
import { useOnce } from "../../api/once.ts";
import { useSignInWays } from "../../api/sign-in-ways.ts";
import { ActForm } from "../../parts/act-form.tsx";
import { Button } from "../../parts/button.tsx";
import { Field } from "../../parts/field.tsx";
import { Refusal, Submit } from "../../parts/refusal.tsx";
import { ToSignIn } from "./link.tsx";
import { NewPassword } from "./new-password.tsx";

interface Props {
  readonly token: string;
  readonly isSignedIn: boolean;
  readonly onJoined: (workspaceId: string) => void;
}

export function Join({ token, isSignedIn, onJoined }: Props) {
  const ways = useSignInWays();
  const accept = useOnce({
    mutationFn: (given: Omit<Body<"acceptInvitation">, "token">) =>
      openApi.acceptInvitation({ body: { ...given, token } }),
    onSuccess: ({ workspace_id }) => onJoined(workspace_id),
  });
  if (isSignedIn)
    return (
      <>
        <Refusal error={accept.error} />
        <Button
          kind="primary"
          className="h-10"
          autoFocus
          isPending={accept.isPending}
          onPress={() => accept.mutate({})}
        >
          Accept the invitation
        </Button>
      </>
    );
  const back = `/invitation#${token}`;
  if (ways.data?.passwords === false)
    return (
      <ToSignIn kind="primary" back={back}>
        Sign in to accept
      </ToSignIn>
    );
  return (
    <>
      <ActForm act={accept} onSubmit={({ name = "", password = "" }) => accept.mutate({ name, password })}>
        <Field
          name="name"
          label="Your name"
          autoComplete="name"
          maxLength={schema.properties.name?.maxLength ?? 0}
          isRequired
          autoFocus
        />
        <NewPassword />
        <Submit error={accept.error} isPending={accept.isPending}>
          Accept the invitation
        </Submit>
      </ActForm>
      <ToSignIn kind="quiet" back={back}>
        I have an account already
      </ToSignIn>
    </>
  );
}

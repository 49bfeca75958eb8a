/** Accepts an invitation: at once for the person who is signed in; others choose a name and a password, or sign in first. */
import schema from "schema:InvitationAcceptance";
import type { Body } from "@posthaste/client";
import { useMutation } from "@tanstack/react-query";
import { Form } from "react-aria-components";
import { fieldErrors } from "../../api/act.ts";
import { openApi } from "../../api/client.ts";
import { useSignInWays } from "../../api/sign-in-ways.ts";
import { Button } from "../../parts/button.tsx";
import { Field } from "../../parts/field.tsx";
import { fieldsOf } from "../../parts/form-fields.ts";
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
  const accept = useMutation({
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
      <Form
        className="flex flex-col gap-4"
        validationErrors={fieldErrors(accept.error)}
        onSubmit={(event) => {
          const given = fieldsOf(event);
          accept.mutate({ name: given.name ?? "", password: given.password ?? "" });
        }}
      >
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
      </Form>
      <ToSignIn kind="quiet" back={back}>
        I have an account already
      </ToSignIn>
    </>
  );
}

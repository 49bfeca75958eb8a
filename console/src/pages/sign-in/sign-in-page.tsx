/** Sign-in: a passkey, or address and password, then the second factor where there is one. */
import { type Data, PosthasteError } from "@posthaste/client";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { useState } from "react";
import { Form } from "react-aria-components";
import { apiOf } from "../../api/client.ts";
import { sessionQuery } from "../../api/session.tsx";
import { Button } from "../../parts/button.tsx";
import { Failure } from "../../parts/failure.tsx";
import { Field } from "../../parts/field.tsx";
import { Column } from "./column.tsx";
import { askPasskey } from "./passkey.ts";

type Step = Data<"signIn">;
const api = apiOf(undefined);

export function SignInPage() {
  const queries = useQueryClient();
  const navigate = useNavigate();
  const { back } = useSearch({ strict: false }) as { readonly back?: string };
  const [challenge, setChallenge] = useState<string>();
  const { data: ways } = useQuery({
    queryKey: ["sign-in ways"],
    queryFn: ({ signal }) => api.getSignInOptions({ signal }),
  });
  const enter = async ({ second_factor }: Step) => {
    if (second_factor) return setChallenge(second_factor.challenge);
    await queries.resetQueries({ queryKey: sessionQuery.queryKey });
    await navigate({ to: back?.startsWith("/") ? back : "/" });
  };
  const signIn = useMutation({
    mutationFn: (body: { email: string; password: string }) => api.signIn({ body }),
    onSuccess: enter,
  });
  const passkey = useMutation({
    mutationFn: async () => {
      const { challenge: asked, passkey_options } = await api.startPasskeySignIn();
      return api.signInWithPasskey({
        body: { challenge: asked, passkey: await askPasskey(passkey_options) } as never,
      });
    },
    onSuccess: enter,
  });
  if (challenge !== undefined)
    return <SecondFactor challenge={challenge} onDone={enter} onBack={() => setChallenge(undefined)} />;
  const error = signIn.error ?? passkey.error;
  return (
    <Column title="Sign in to Posthaste">
      {ways?.passkeys && "PublicKeyCredential" in window && (
        <>
          <Button className="h-10 w-full" isPending={passkey.isPending} onPress={() => passkey.mutate()}>
            Use a passkey
          </Button>
          {ways.passwords && (
            <p className="my-4 flex items-center gap-3 text-small text-muted before:h-px before:flex-1 before:bg-line after:h-px after:flex-1 after:bg-line">
              or
            </p>
          )}
        </>
      )}
      {ways?.passwords !== false && (
        <Form
          className="flex flex-col gap-4"
          onSubmit={(event) => {
            event.preventDefault();
            signIn.mutate(
              Object.fromEntries(new FormData(event.currentTarget)) as { email: string; password: string },
            );
          }}
        >
          <Field name="email" type="email" label="Email" autoComplete="username" isRequired autoFocus />
          <Field
            name="password"
            type="password"
            label="Password"
            autoComplete="current-password"
            isRequired
          />
          <Button type="submit" kind="primary" className="h-10" isPending={signIn.isPending}>
            Sign in
          </Button>
        </Form>
      )}
      {error && !(error instanceof DOMException) && (
        <div className="mt-4">
          <Failure error={error} />
        </div>
      )}
    </Column>
  );
}

function SecondFactor({
  challenge,
  onDone,
  onBack,
}: {
  readonly challenge: string;
  readonly onDone: (step: Step) => void;
  readonly onBack: () => void;
}) {
  const confirm = useMutation({
    mutationFn: (code: string) =>
      api.confirmSecondFactor({
        body: (/^\d{6}$/.test(code) ? { challenge, code } : { challenge, recovery_code: code }) as never,
      }),
    onSuccess: (step) => onDone(step as Step),
    onError: (error) => error instanceof PosthasteError && error.status === 410 && onBack(),
  });
  return (
    <Column title="One more step">
      <Form
        className="flex flex-col gap-4"
        onSubmit={(event) => {
          event.preventDefault();
          confirm.mutate(String(new FormData(event.currentTarget).get("code")).trim());
        }}
      >
        <Field
          name="code"
          label="Code"
          hint="Six digits from your authenticator app, or one of your recovery codes."
          autoComplete="one-time-code"
          isRequired
          autoFocus
        />
        <Button type="submit" kind="primary" className="h-10" isPending={confirm.isPending}>
          Continue
        </Button>
        <Button kind="quiet" onPress={onBack}>
          Back
        </Button>
      </Form>
      {confirm.error && (
        <div className="mt-4">
          <Failure error={confirm.error} />
        </div>
      )}
    </Column>
  );
}

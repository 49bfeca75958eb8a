/** The first step of a sign-in: a passkey, the account of the organisation, or address and password; only what works here. */

import order from "schema:NewSingleSignOn";
import { openApi } from "../../api/client.ts";
import { useOnce } from "../../api/once.ts";
import { useSignInWays } from "../../api/sign-in-ways.ts";
import { ActForm } from "../../parts/act-form.tsx";
import { Button } from "../../parts/button.tsx";
import { Failure } from "../../parts/failure.tsx";
import { Field } from "../../parts/field.tsx";
import { askPasskey, hasPasskeys } from "../../parts/passkey.ts";
import { Refusal, Submit } from "../../parts/refusal.tsx";
import type { SignInStep } from "./steps.tsx";

const LONGEST_RETURN = order.properties.return_to?.maxLength ?? 0;

interface Props {
  readonly returnTo: string;
  readonly onStep: (step: SignInStep) => void;
  readonly email?: string;
  readonly onForgotten?: () => void;
}

export function Ways({ returnTo, onStep, email, onForgotten }: Props) {
  const ways = useSignInWays();
  const signIn = useOnce({
    mutationFn: (body: { email: string; password: string }) => openApi.signIn({ body }),
    onSuccess: onStep,
  });
  const passkey = useOnce({
    mutationFn: async () => {
      const { challenge, passkey_options } = await openApi.startPasskeySignIn();
      return openApi.signInWithPasskey({ body: { challenge, passkey: await askPasskey(passkey_options) } });
    },
    onSuccess: onStep,
  });
  const organisation = useOnce({
    mutationFn: (_tab: Window | null) =>
      openApi.startSingleSignOn({ body: { return_to: shortened(returnTo) } }),
    onSuccess: ({ url }, tab) => (tab ?? window).location.assign(url),
    onError: (_error, tab) => tab !== window && tab?.close(),
  });
  if (ways.error) return <Failure error={ways.error} onRetry={ways.refetch} />;
  if (!ways.data) return null;
  const { passwords, passkeys, single_sign_on: provider } = ways.data;
  // A page with something typed stays where it is: the provider opens in another tab.
  const isOverPage = email !== undefined;
  const usesPasskeys = passkeys && hasPasskeys();
  return (
    <>
      {usesPasskeys && (
        <Button className="h-10" isPending={passkey.isPending} onPress={() => passkey.mutate()}>
          Use a passkey
        </Button>
      )}
      {provider && (
        <Button
          className="h-10"
          isPending={organisation.isPending}
          onPress={() => organisation.mutate(isOverPage ? window.open() : window)}
        >
          Continue with {provider.name}
        </Button>
      )}
      <Refusal error={passkey.error ?? organisation.error} />
      {passwords && (usesPasskeys || provider) && <Or />}
      {passwords && (
        <ActForm
          act={signIn}
          onSubmit={({ email: address = "", password = "" }) => signIn.mutate({ email: address, password })}
        >
          <Field
            name="email"
            type="email"
            label="Email"
            autoComplete="username"
            isRequired
            {...(isOverPage ? { value: email, isReadOnly: true } : { autoFocus: true })}
          />
          <Field
            name="password"
            type="password"
            label="Password"
            autoComplete="current-password"
            isRequired
            autoFocus={isOverPage}
          />
          <Submit error={signIn.error} isPending={signIn.isPending}>
            Sign in
          </Submit>
        </ActForm>
      )}
      {passwords && onForgotten && (
        <Button kind="quiet" onPress={onForgotten}>
          Forgot the password?
        </Button>
      )}
    </>
  );
}

/** A page whose address is longer than may be named opens without its filter. */
function shortened(path: string): string {
  return path.length > LONGEST_RETURN ? path.replace(/[?#].*$/s, "") : path;
}

function Or() {
  return (
    <p className="flex items-center gap-3 text-small text-muted before:h-px before:flex-1 before:bg-line after:h-px after:flex-1 after:bg-line">
      or
    </p>
  );
}

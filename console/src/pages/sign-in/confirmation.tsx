/** Asks who the person is before an act that cannot be undone; the act goes on by itself afterwards. */

import type { Body } from "@posthaste/client";
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { apiOf, openApi } from "../../api/client.ts";
import { gate } from "../../api/gate.ts";
import { useOnce } from "../../api/once.ts";
import { type Session, sessionQuery, useSession } from "../../api/session.tsx";
import { useSignInWays } from "../../api/sign-in-ways.ts";
import { ActForm } from "../../parts/act-form.tsx";
import { Button } from "../../parts/button.tsx";
import { Dialog } from "../../parts/dialog.tsx";
import { Field } from "../../parts/field.tsx";
import { askPasskey, hasPasskeys } from "../../parts/passkey.ts";
import { Refusal, Submit } from "../../parts/refusal.tsx";
import { useReturn } from "./use-return.ts";

const api = apiOf(undefined);

export function Confirmation() {
  const queries = useQueryClient();
  const session = useSession();
  const { data: ways } = useSignInWays();
  const [wantsCode, setWantsCode] = useState(false);
  const pass = (confirmed: Session) => {
    queries.setQueryData(sessionQuery.queryKey, confirmed);
    gate.settle("confirmation", true);
  };
  useReturn((now) => Date.parse(now.confirmed_until) > Date.now() && pass(now));
  const confirm = useOnce({
    // The form counts down by itself.
    mutationFn: (body: Body<"reauthenticate">) => api.reauthenticate({ body, retries: 0 }),
    onSuccess: pass,
  });
  const passkey = useOnce({
    mutationFn: async () => {
      const { challenge, passkey_options } = await api.startConfirmation();
      return { challenge, passkey: await askPasskey(passkey_options) };
    },
    onSuccess: (proof) => confirm.mutate(proof),
  });
  const organisation = useOnce({
    mutationFn: (_tab: Window | null) =>
      openApi.startSingleSignOn({ body: { return_to: location.pathname, reauthenticate: true } }),
    onSuccess: ({ url }, tab) => (tab ?? window).location.assign(url),
    onError: (_error, tab) => tab?.close(),
  });
  if (!session || !ways) return null;
  const hasPassword = session.person.has_password && ways.passwords;
  const hasApp = session.second_factors.includes("authenticator_app");
  const usesPasskey = session.second_factors.includes("passkey") && hasPasskeys();
  const isCode = hasApp && (wantsCode || !hasPassword);
  const name = isCode ? "code" : "password";
  return (
    <Dialog title="Confirm that it is you" isOpen onClose={() => gate.settle("confirmation", false)}>
      <div className="flex flex-col gap-4">
        <p className="text-muted">
          Before this change the service asks who you are. You are not asked again for ten minutes.
        </p>
        {usesPasskey && (
          <Button
            className="h-10"
            autoFocus={!hasPassword && !hasApp}
            isPending={passkey.isPending}
            onPress={() => passkey.mutate()}
          >
            Use a passkey
          </Button>
        )}
        {!hasPassword && !hasApp && ways.single_sign_on && (
          <Button
            className="h-10"
            isPending={organisation.isPending}
            onPress={() => organisation.mutate(window.open())}
          >
            Confirm with {ways.single_sign_on.name}
          </Button>
        )}
        <Refusal error={passkey.error ?? organisation.error} />
        {hasPassword || hasApp ? (
          <ActForm
            key={name}
            act={confirm}
            onSubmit={(texts) => confirm.mutate({ [name]: texts[name] ?? "" })}
          >
            {isCode ? (
              <Field
                name="code"
                label="Code"
                hint="The six digits that your authenticator app shows now."
                inputMode="numeric"
                autoComplete="one-time-code"
                isRequired
                autoFocus
              />
            ) : (
              <Field
                name="password"
                type="password"
                label="Password"
                autoComplete="current-password"
                isRequired
                autoFocus
              />
            )}
            <Submit error={confirm.error} isPending={confirm.isPending}>
              Confirm
            </Submit>
          </ActForm>
        ) : (
          <Refusal error={confirm.error} />
        )}
        {hasPassword && hasApp && (
          <Button kind="quiet" onPress={() => setWantsCode(!isCode)}>
            {isCode ? "Use the password" : "Use a code of the authenticator app"}
          </Button>
        )}
        <Button kind="quiet" onPress={() => gate.settle("confirmation", false)}>
          Cancel
        </Button>
      </div>
    </Dialog>
  );
}

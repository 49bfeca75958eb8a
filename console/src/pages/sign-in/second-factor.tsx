/** The second step of a sign-in: a code of the app, a passkey, or a recovery code; only what the account has. */

import type { Body } from "@posthaste/client";
import { useState } from "react";
import { openApi } from "../../api/client.ts";
import { useOnce } from "../../api/once.ts";
import { ActForm } from "../../parts/act-form.tsx";
import { Button } from "../../parts/button.tsx";
import { Field } from "../../parts/field.tsx";
import { askPasskey, hasPasskeys } from "../../parts/passkey.ts";
import { Refusal, Submit } from "../../parts/refusal.tsx";
import type { Challenge, SignInStep } from "./steps.tsx";

interface Props {
  readonly challenge: Challenge;
  readonly onStep: (step: SignInStep) => void;
  readonly onBack: () => void;
}

type Proof = Omit<Body<"confirmSecondFactor">, "challenge">;

export function SecondFactor({ challenge: { challenge, kinds, passkey_options }, onStep, onBack }: Props) {
  const hasApp = kinds.includes("authenticator_app");
  const usesPasskey = kinds.includes("passkey") && hasPasskeys();
  const [isRecovery, setRecovery] = useState(!hasApp && !usesPasskey);
  const prove = useOnce({
    mutationFn: (proof: Proof) => openApi.confirmSecondFactor({ body: { ...proof, challenge } }),
    onSuccess: onStep,
  });
  const passkey = useOnce({
    mutationFn: async () => ({ passkey: await askPasskey(passkey_options) }),
    onSuccess: (proof) => prove.mutate(proof),
  });
  const name = isRecovery ? "recovery_code" : "code";
  return (
    <>
      {usesPasskey && (
        <Button
          className="h-10"
          autoFocus={!hasApp}
          isPending={passkey.isPending}
          onPress={() => passkey.mutate()}
        >
          Use a passkey
        </Button>
      )}
      <Refusal error={passkey.error} />
      {(hasApp || isRecovery) && (
        <ActForm key={name} act={prove} onSubmit={(texts) => prove.mutate({ [name]: texts[name] ?? "" })}>
          {isRecovery ? (
            <Field
              name={name}
              label="Recovery code"
              hint="Each of the codes that you have kept works once."
              autoComplete="off"
              isRequired
              autoFocus
            />
          ) : (
            <Field
              name={name}
              label="Code"
              hint="The six digits that your authenticator app shows now."
              autoComplete="one-time-code"
              inputMode="numeric"
              isRequired
              autoFocus
            />
          )}
          <Submit error={prove.error} isPending={prove.isPending}>
            Continue
          </Submit>
        </ActForm>
      )}
      {!hasApp && !isRecovery && <Refusal error={prove.error} />}
      {kinds.includes("recovery_code") && (hasApp || usesPasskey) && (
        <Button kind="quiet" onPress={() => setRecovery(!isRecovery)}>
          {isRecovery ? "Use another way" : "Use a recovery code"}
        </Button>
      )}
      <Button kind="quiet" onPress={onBack}>
        Begin again
      </Button>
    </>
  );
}

/** The steps of a sign-in, on the page of its own and over the page of a session that has ended. */
import type { Data } from "@posthaste/client";
import { type ReactNode, useState } from "react";
import type { Session } from "../../api/session.tsx";
import { Button } from "../../parts/button.tsx";
import { ForgottenPassword } from "./forgotten-password.tsx";
import { SecondFactor } from "./second-factor.tsx";
import { Ways } from "./ways.tsx";

export type SignInStep = Data<"signIn">;
export type Challenge = NonNullable<SignInStep["second_factor"]>;

interface Props {
  /** The title of the first step. */
  readonly title: string;
  readonly frame: (title: string, content: ReactNode) => ReactNode;
  /** Path below the host to which single sign-on comes back. */
  readonly returnTo: string;
  readonly onSignedIn: (session: Session) => void;
  /** The address is known: no other person can sign in here. */
  readonly email?: string;
  /** Single sign-on came back with it. */
  readonly challenge?: Challenge;
}

export function SignInSteps({ title, frame, returnTo, onSignedIn, email, challenge: given }: Props) {
  const [challenge, setChallenge] = useState(given);
  const [isForgotten, setForgotten] = useState(false);
  const onStep = ({ session, second_factor }: SignInStep) => {
    if (second_factor) setChallenge(second_factor);
    else if (session) onSignedIn(session);
  };
  if (challenge)
    return frame(
      "One more step",
      <SecondFactor challenge={challenge} onStep={onStep} onBack={() => setChallenge(undefined)} />,
    );
  if (isForgotten)
    return frame(
      "Choose a new password",
      <ForgottenPassword
        back={
          <Button kind="quiet" onPress={() => setForgotten(false)}>
            Back to the sign-in
          </Button>
        }
      />,
    );
  return frame(
    title,
    <Ways
      returnTo={returnTo}
      onStep={onStep}
      {...(email === undefined ? { onForgotten: () => setForgotten(true) } : { email })}
    />,
  );
}

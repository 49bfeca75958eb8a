/** A workspace that requires a second factor, opened by a session without one. It opens when the person has kept the recovery codes. */

import { openApi } from "../../api/client.ts";
import { useOnce } from "../../api/once.ts";
import { usePlace } from "../../api/session.tsx";
import { Button } from "../../parts/button.tsx";
import { Refusal } from "../../parts/refusal.tsx";
import { Factors } from "../account/factors.tsx";

interface Props {
  /** The session has a second factor now. */
  readonly isReady: boolean;
  readonly onGoOn: () => void;
}

export function SecondFactorWanted({ isReady, onGoOn }: Props) {
  const { session, workspace } = usePlace();
  const signOut = useOnce({
    mutationFn: () => openApi.signOut(),
    onSuccess: () => location.assign("/console/sign-in"),
  });
  return (
    <main className="mx-auto flex min-h-dvh max-w-xl flex-col justify-center px-4 py-16">
      <h1 className="mb-2 text-title font-semibold tracking-[-0.01em]">
        {workspace.name} requires a second factor
      </h1>
      <p className="mb-6 text-muted">
        {isReady
          ? "You have one now."
          : session.second_factors.length === 0
            ? "Add one to your account to open it."
            : "Your account has one, and this session was opened without it: sign out, then sign in with it."}
      </p>
      <Factors />
      <Refusal error={signOut.error} />
      {isReady ? (
        <Button kind="primary" className="h-10" onPress={onGoOn}>
          Open {workspace.name}
        </Button>
      ) : (
        <Button className="h-10" isPending={signOut.isPending} onPress={() => signOut.mutate()}>
          Sign out
        </Button>
      )}
    </main>
  );
}

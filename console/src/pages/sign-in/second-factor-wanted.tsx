/** A workspace that requires a second factor, opened by a session without one. */
import { usePlace } from "../../api/session.tsx";
import { Factors } from "../account/factors.tsx";

export function SecondFactorWanted() {
  const { session, workspace } = usePlace();
  return (
    <main className="mx-auto flex min-h-dvh max-w-xl flex-col justify-center px-4 py-16">
      <h1 className="mb-2 text-title font-semibold tracking-[-0.01em]">
        {workspace.name} requires a second factor
      </h1>
      <p className="mb-6 text-muted">
        {session.second_factors.length === 0
          ? "Add one to your account to open it."
          : "Your account has one, and this session was opened without it: sign out, then sign in with it, or add another one here."}
      </p>
      <Factors />
    </main>
  );
}

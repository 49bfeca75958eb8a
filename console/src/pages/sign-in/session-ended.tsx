/** The sign-in over a page whose session has ended. The page keeps what was typed; its calls go on afterwards. */
import { useQueryClient } from "@tanstack/react-query";
import { gate } from "../../api/gate.ts";
import { type Session, sessionQuery, useSession } from "../../api/session.tsx";
import { Button } from "../../parts/button.tsx";
import { Dialog } from "../../parts/dialog.tsx";
import { SignInSteps } from "./steps.tsx";
import { useReturn } from "./use-return.ts";

export function SessionEnded() {
  const queries = useQueryClient();
  const former = useSession();
  const goOn = (session: Session) => {
    if (session.person.id !== former?.person.id) return location.assign("/console/");
    queries.setQueryData(sessionQuery.queryKey, session);
    gate.settle("session", true);
    void queries.invalidateQueries({
      predicate: ({ queryKey }) => queryKey[0] !== sessionQuery.queryKey[0],
    });
  };
  useReturn(goOn);
  return (
    <SignInSteps
      title="Your session has ended"
      email={former?.person.email ?? ""}
      returnTo="/console/"
      onSignedIn={goOn}
      frame={(title, content) => (
        <Dialog title={title} isOpen onClose={() => {}}>
          <div className="flex flex-col gap-4">
            <p className="text-muted">Sign in to go on. What you have typed is still here.</p>
            {content}
            <Button kind="quiet" onPress={() => location.assign("/console/sign-in")}>
              Leave this page
            </Button>
          </div>
        </Dialog>
      )}
    />
  );
}

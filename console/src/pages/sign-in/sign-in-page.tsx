/** Signing in, then back to where one was. Single sign-on comes back here when the account has a second factor. */
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Navigate, useNavigate, useSearch } from "@tanstack/react-router";
import { useState } from "react";
import { openApi } from "../../api/client.ts";
import { sessionQuery, takeSession } from "../../api/session.tsx";
import { Button } from "../../parts/button.tsx";
import { Failure } from "../../parts/failure.tsx";
import { Column } from "./column.tsx";
import { SignInSteps } from "./steps.tsx";

/** Where the console is, below the host. */
const CONSOLE = "/console";

export function SignInPage() {
  const queries = useQueryClient();
  const navigate = useNavigate();
  const search = useSearch({ strict: false }) as { readonly back?: string; readonly return_to?: string };
  const [token] = useState(() => new URLSearchParams(location.hash.slice(1)).get("challenge"));
  const back = pathOf(search.back ?? search.return_to?.replace(CONSOLE, ""));
  const { data: session, error, refetch } = useQuery(sessionQuery);
  const open = useQuery({
    queryKey: ["challenge", token],
    queryFn: ({ signal }) =>
      openApi.getSecondFactorChallenge({ body: { challenge: token ?? "" }, signal, retries: 1 }),
    enabled: token !== null,
    retryOnMount: false,
  });
  if (session) return <Navigate to="." href={back} replace />;
  if (error)
    return (
      <Column title="Sign in to Posthaste">
        <Failure error={error} onRetry={refetch} />
      </Column>
    );
  if (open.error)
    return (
      <Column title="The sign-in has ended">
        <Failure error={open.error} />
        <Button kind="primary" className="h-10" onPress={() => location.replace(`${CONSOLE}/sign-in`)}>
          Begin again
        </Button>
      </Column>
    );
  if (session === undefined || (token !== null && !open.data)) return null;
  return (
    <SignInSteps
      title="Sign in to Posthaste"
      frame={(title, content) => <Column title={title}>{content}</Column>}
      returnTo={`${CONSOLE}${back}`}
      onSignedIn={(opened) => {
        takeSession(queries, opened);
        void navigate({ href: back, replace: true });
      }}
      {...(open.data && { challenge: open.data })}
    />
  );
}

/** Only paths of this site: a link to the sign-in page must not lead elsewhere. */
function pathOf(wanted: string | undefined): string {
  return wanted?.startsWith("/") && !wanted.startsWith("//") && !wanted.includes("\\") ? wanted : "/";
}

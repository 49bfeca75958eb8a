/** Joining a workspace with the link of an invitation: as the person who is signed in, as one with an account, or as a new one. */

import { PosthasteError } from "@posthaste/client";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { openApi } from "../../api/client.ts";
import { useOnce } from "../../api/once.ts";
import { sessionQuery, useSession } from "../../api/session.tsx";
import { Button } from "../../parts/button.tsx";
import { Failure } from "../../parts/failure.tsx";
import { Time } from "../../parts/time.tsx";
import { Column } from "./column.tsx";
import { Join } from "./join.tsx";
import { ToSignIn, WithToken } from "./link.tsx";

export function InvitationPage() {
  return <WithToken>{(token) => <Invitation key={token} token={token} />}</WithToken>;
}

function Invitation({ token }: { readonly token: string }) {
  const session = useSession();
  const queries = useQueryClient();
  const navigate = useNavigate();
  const { data, error, refetch } = useQuery({
    queryKey: ["invitation", token],
    queryFn: ({ signal }) => openApi.previewInvitation({ body: { token }, signal }),
  });
  const signOut = useOnce({
    mutationFn: () => openApi.signOut(),
    onSuccess: () => queries.setQueryData(sessionQuery.queryKey, null),
  });
  const isEnded = error instanceof PosthasteError && error.status === 404;
  if (error)
    return (
      <Column title="This invitation cannot be accepted">
        <Failure error={error} {...(!isEnded && { onRetry: refetch })} />
        <ToSignIn kind="quiet">Go to the console</ToSignIn>
      </Column>
    );
  if (!data || session === undefined) return null;
  const { workspace_name, role_name, invited_by, email, expires_at } = data;
  const isOther = session !== null && session.person.email !== email;
  return (
    <Column title={`Join ${workspace_name}`}>
      <p>
        {invited_by} invites {email} as {role_name}. The invitation ends <Time at={expires_at} />.
      </p>
      {isOther ? (
        <>
          <p>
            You are signed in as {session.person.email}. Sign out, then accept the invitation as {email}.
          </p>
          <Button
            kind="primary"
            className="h-10"
            onPress={() => signOut.mutate()}
            isPending={signOut.isPending}
          >
            Sign out
          </Button>
        </>
      ) : (
        <Join
          token={token}
          isSignedIn={session !== null}
          onJoined={(workspaceId) => {
            queries.removeQueries({ queryKey: sessionQuery.queryKey });
            void navigate({ to: `/${workspaceId}`, hash: "" });
          }}
        />
      )}
    </Column>
  );
}

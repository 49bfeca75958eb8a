/** Where one is signed in, and ending it. */
import type { Schema } from "@posthaste/client";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useAct } from "../../api/act.ts";
import { apiOf } from "../../api/client.ts";
import { Button } from "../../parts/button.tsx";
import { Question } from "../../parts/dialog.tsx";
import { Failure } from "../../parts/failure.tsx";
import { counted } from "../../parts/numbers.ts";
import { Panel } from "../../parts/page.tsx";
import { Time } from "../../parts/time.tsx";
import { browserName } from "./browser-name.ts";

const api = apiOf(undefined);

export function Sessions() {
  const [isAsked, setAsked] = useState(false);
  const { data, error, refetch } = useQuery({
    queryKey: ["sessions"],
    queryFn: ({ signal }) => api.listSessions({ signal }),
  });
  const endOthers = useAct({
    run: () => api.revokeSessions(),
    changes: ["sessions"],
    done: ({ ended }) => `${counted(ended, "session")} ended`,
    onDone: () => setAsked(false),
  });
  const others = (data?.length ?? 1) - 1;
  return (
    <Panel
      title="Sessions"
      acts={others > 0 && <Button onPress={() => setAsked(true)}>Sign out everywhere else</Button>}
    >
      {error && <Failure error={error} onRetry={refetch} />}
      <ul>
        {data?.map((session) => (
          <SessionRow key={session.id} session={session} />
        ))}
      </ul>
      <Question
        title="Sign out everywhere else?"
        isOpen={isAsked}
        onClose={() => setAsked(false)}
        act={`End ${counted(others, "session")}`}
        onConfirm={() => endOthers.mutate()}
        isPending={endOthers.isPending}
        error={endOthers.error}
      >
        Every browser but this one has to sign in again. What was typed there and not saved is lost.
      </Question>
    </Panel>
  );
}

function SessionRow({ session }: { readonly session: Schema<"SessionSummary"> }) {
  const { id, is_current, user_agent, ip_address, has_second_factor, created_at, last_seen_at } = session;
  const name = browserName(user_agent);
  const end = useAct({
    run: () => api.revokeSession({ id }),
    changes: ["sessions"],
    done: `${name} is signed out`,
  });
  return (
    <li className="flex min-h-14 flex-wrap items-center gap-3 border-b border-line/60 py-2">
      <div className="min-w-0 flex-1">
        <p className="font-medium" title={user_agent}>
          {name} {is_current && <span className="font-normal text-muted">(this browser)</span>}
        </p>
        <p className="text-muted">
          {ip_address} · last used <Time at={last_seen_at} /> · signed in <Time at={created_at} />
          {has_second_factor && " · with a second factor"}
        </p>
      </div>
      {!is_current && (
        <Button
          kind="quiet"
          onPress={() => end.mutate()}
          isPending={end.isPending}
          aria-label={`Sign out ${name}`}
        >
          Sign out
        </Button>
      )}
      {end.error && <Failure error={end.error} />}
    </li>
  );
}

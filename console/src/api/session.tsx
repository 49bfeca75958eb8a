/** The session: who is signed in, the workspace that is open, and what they may do in it. */

import { type Data, type Operations, type Posthaste, PosthasteError } from "@posthaste/client";
import { type QueryClient, queryOptions, useQuery } from "@tanstack/react-query";
import permissions from "operation-permissions";
import { createContext, useContext } from "react";
import { showTheme } from "../parts/theme.ts";
import { openApi } from "./client.ts";
import { gate } from "./gate.ts";

export type Session = Data<"getSession">;
export type Workspace = Session["workspaces"][number];

/** Null when no person is signed in. When a session ends, it stays here until the person has signed in again: pages keep what was typed. */
export const sessionQuery = queryOptions({
  queryKey: ["session"],
  queryFn: async ({ signal, client }): Promise<Session | null> => {
    const session = await openSession(signal);
    const former = client.getQueryData<Session | null>(["session"]);
    if (session || !former) return session;
    await gate.ask("session");
    return openSession(signal);
  },
  staleTime: 60_000,
});

async function openSession(signal: AbortSignal): Promise<Session | null> {
  try {
    const session = await openApi.getSession({ signal, retries: 1 });
    showTheme(session.person.theme ?? "system");
    return session;
  } catch (error) {
    if (error instanceof PosthasteError && error.status === 401) return null;
    throw error;
  }
}

/** Takes over a session that was just opened. What was loaded before may be another person's. */
export function takeSession(queries: QueryClient, session: Session): void {
  queries.removeQueries({ predicate: ({ queryKey }) => queryKey[0] !== sessionQuery.queryKey[0] });
  queries.setQueryData(sessionQuery.queryKey, session);
  showTheme(session.person.theme ?? "system");
}

interface Place {
  readonly session: Session;
  readonly workspace: Workspace;
  readonly api: Posthaste;
}

const PlaceContext = createContext<Place | undefined>(undefined);
export const PlaceProvider = PlaceContext.Provider;

/** The open workspace with its API. Only below the shell. */
export function usePlace(): Place {
  const place = useContext(PlaceContext);
  if (place === undefined) throw new Error("usePlace is called outside of a workspace");
  return place;
}

export function useSession(): Session | null | undefined {
  return useQuery(sessionQuery).data;
}

/** Whether the person may call an operation in a workspace. */
export function mayCall({ permissions: held }: Workspace, operation: keyof Operations): boolean {
  const needed = permissions[operation];
  return needed === undefined || needed === null || holds(held, needed);
}

/**
 * Whether one of the held permissions covers another one: `campaigns:send` is covered by `campaigns:send`, `campaigns:*`, `*:send`
 * and `*:*`; a wildcard by the same or a wider one.
 */
export function holds(held: readonly string[], wanted: string): boolean {
  const [resource, action] = wanted.split(":");
  return held.some((one) => {
    const [heldResource, heldAction] = one.split(":");
    return (
      (heldResource === "*" || heldResource === resource) && (heldAction === "*" || heldAction === action)
    );
  });
}

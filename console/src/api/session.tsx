/** The session: who is signed in, the workspace that is open, and what they may do in it. */

import { type Data, type Operations, type Posthaste, PosthasteError } from "@posthaste/client";
import { queryOptions, useQuery } from "@tanstack/react-query";
import permissions from "operation-permissions";
import { createContext, useContext } from "react";
import { apiOf } from "./client.ts";

export type Session = Data<"getSession">;
export type Workspace = Session["workspaces"][number];

/** Null when nobody is signed in. */
export const sessionQuery = queryOptions({
  queryKey: ["session"],
  queryFn: async ({ signal }): Promise<Session | null> => {
    try {
      return await apiOf(undefined).getSession({ signal });
    } catch (error) {
      if (error instanceof PosthasteError && error.status === 401) return null;
      throw error;
    }
  },
  staleTime: 60_000,
});

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

/**
 * Whether the person may call an operation in a workspace. The permission `campaigns:send` is held by `campaigns:send`,
 * `campaigns:*`, `*:send` and `*:*`.
 */
export function mayCall({ permissions: held }: Workspace, operation: keyof Operations): boolean {
  const needed = permissions[operation];
  if (needed === undefined || needed === null) return true;
  const [resource, action] = needed.split(":");
  return held.some((one) => {
    const [heldResource, heldAction] = one.split(":");
    return (
      (heldResource === "*" || heldResource === resource) && (heldAction === "*" || heldAction === action)
    );
  });
}

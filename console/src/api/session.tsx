/** The session: who is signed in, the workspace that is open, and what they may do in it. */
import { type Data, type Posthaste, PosthasteError } from "@posthaste/client";
import { queryOptions, useQuery } from "@tanstack/react-query";
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

/** Whether the person may do something here: `campaigns:send` is held by `campaigns:send`, `campaigns:*`, `*:send` and `*:*`. */
export function mayDo({ permissions }: Workspace, permission: string): boolean {
  const [noun, verb] = permission.split(":");
  return permissions.some((held) => {
    const [heldNoun, heldVerb] = held.split(":");
    return (heldNoun === "*" || heldNoun === noun) && (heldVerb === "*" || heldVerb === verb);
  });
}

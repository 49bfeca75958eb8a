/** The mailing lists of the workspace. */
import type { Schema } from "@posthaste/client";
import { queryOptions, useQuery } from "@tanstack/react-query";
import { mayCall, usePlace } from "./session.tsx";

export type MailingList = Schema<"MailingList">;
type Place = ReturnType<typeof usePlace>;

export function listsQuery({ api, workspace }: Place) {
  return queryOptions({
    queryKey: ["lists", workspace.id],
    queryFn: ({ signal }) => api.listMailingLists({ signal }),
    enabled: mayCall(workspace, "listMailingLists"),
    staleTime: 10_000,
  });
}

/** Undefined until they are loaded; `listsQuery` tells of a failure, too. */
export function useLists(): readonly MailingList[] | undefined {
  return useQuery(listsQuery(usePlace())).data;
}

/** What several pages ask about mailing lists and custom fields. */
import type { Schema } from "@posthaste/client";
import { queryOptions, useQuery } from "@tanstack/react-query";
import { mayCall, usePlace } from "../../api/session.tsx";

export type MailingList = Schema<"MailingList">;
export type CustomField = Schema<"CustomField">;
type Place = ReturnType<typeof usePlace>;

export function listsQuery({ api, workspace }: Place) {
  return queryOptions({
    queryKey: ["lists", workspace.id],
    queryFn: ({ signal }) => api.listMailingLists({ signal }),
    enabled: mayCall(workspace, "listMailingLists"),
    staleTime: 10_000,
  });
}

/** Undefined until they are loaded. */
export function useLists(): readonly MailingList[] | undefined {
  return useQuery(listsQuery(usePlace())).data;
}

export function useGlobalFields() {
  const { api, workspace } = usePlace();
  return useQuery({
    queryKey: ["fields", workspace.id, "global"],
    queryFn: ({ signal }) => api.listGlobalCustomFields({ signal }),
    enabled: mayCall(workspace, "listGlobalCustomFields"),
  });
}

export function useListFields(listId: string | undefined) {
  const { api, workspace } = usePlace();
  return useQuery({
    queryKey: ["fields", workspace.id, listId],
    queryFn: ({ signal }) => api.listCustomFields({ id: listId ?? "", signal }),
    enabled: listId !== undefined && mayCall(workspace, "listCustomFields"),
  });
}

/** The fields that people of a list have, in display order; of every list without one. A list's own field hides a global one. */
export function useFields(listId: string | undefined): readonly CustomField[] {
  const global = useGlobalFields().data ?? [];
  const own = useListFields(listId).data ?? [];
  const names = new Set(own.map(({ field_name }) => field_name));
  return [...own, ...global.filter(({ field_name }) => !names.has(field_name))].filter(
    ({ is_active }) => is_active,
  );
}

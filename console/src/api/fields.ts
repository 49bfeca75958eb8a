/** Custom fields, of one list and of all. */
import type { Schema } from "@posthaste/client";
import { useQuery } from "@tanstack/react-query";
import { mayCall, usePlace } from "./session.tsx";

export type CustomField = Schema<"CustomField">;

/** First words of the keys of the queries that show something else when a field has changed. */
export const fieldChanges = ["custom-fields", "segment-fields"];

export function useGlobalFields() {
  const { api, workspace } = usePlace();
  return useQuery({
    queryKey: ["custom-fields", workspace.id, "global"],
    queryFn: ({ signal }) => api.listGlobalCustomFields({ signal }),
    enabled: mayCall(workspace, "listGlobalCustomFields"),
  });
}

export function useListFields(listId: string | undefined) {
  const { api, workspace } = usePlace();
  return useQuery({
    queryKey: ["custom-fields", workspace.id, listId],
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

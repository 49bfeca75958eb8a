/** Names that a mail may show: those of every person and mail, and the custom fields of the list. */
import { useQuery } from "@tanstack/react-query";
import { mayCall, usePlace } from "../../../api/session.tsx";
import type { MergeTag } from "../../../parts/code-editor.tsx";

/** docs/merge-tags.md, “Values”. */
const everywhere: readonly MergeTag[] = [
  { name: "first_name", description: "First name" },
  { name: "last_name", description: "Last name" },
  { name: "email", description: "Address" },
  { name: "unsubscribe_url", description: "Link to unsubscribe" },
  { name: "view_in_browser_url", description: "Link to the mail in a browser" },
  { name: "list_name", description: "Name of the list" },
  { name: "campaign_name", description: "Name of the campaign" },
];

export function useFields(listId: string | null) {
  const { api, workspace } = usePlace();
  const isAllowed = mayCall(workspace, "listCustomFields");
  const own = useQuery({
    queryKey: ["custom-fields", workspace.id, listId],
    queryFn: ({ signal }) => api.listCustomFields({ id: listId ?? "", signal }),
    enabled: isAllowed && listId !== null,
  });
  const global = useQuery({
    queryKey: ["custom-fields", workspace.id, "global"],
    queryFn: ({ signal }) => api.listGlobalCustomFields({ signal }),
    enabled: isAllowed,
  });
  const fields = [...(listId === null ? [] : (own.data ?? [])), ...(global.data ?? [])];
  return [...new Map(fields.reverse().map((field) => [field.field_name, field])).values()].filter(
    ({ is_active }) => is_active,
  );
}

export function useMergeTags(listId: string | null): readonly MergeTag[] {
  const fields = useFields(listId);
  return [
    ...everywhere,
    ...fields.map(({ field_name, field_label }) => ({ name: field_name, description: field_label })),
  ];
}

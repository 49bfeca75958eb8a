/** What a mail may show of its recipient: the tags that the service knows, with the custom fields of the list. */
import { useQuery } from "@tanstack/react-query";
import { usePlace } from "../../../api/session.tsx";
import type { MergeTag } from "../../../parts/code-editor.tsx";

const none: readonly MergeTag[] = [];

/** Empty while they load. */
export function useMergeTags(listId: string | null): readonly MergeTag[] {
  const { api, workspace } = usePlace();
  const { data } = useQuery({
    // Changes of custom fields load it again.
    queryKey: ["custom-fields", workspace.id, "merge-tags", listId],
    queryFn: ({ signal }) => api.listMergeTags({ query: listId === null ? {} : { list_id: listId }, signal }),
  });
  return data ?? none;
}

/** What the builder asks the API for: the fields of rules, and the names behind ids. */
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { mayCall, usePlace } from "../../api/session.tsx";
import { type ReadDraft, readDraft, type SegmentDraft } from "./draft.ts";

const FRESH_MS = 60_000;
const PAGE = 200;

export function useSegmentFields(listId: string) {
  const { api, workspace } = usePlace();
  return useQuery({
    queryKey: ["segment-fields", workspace.id, listId],
    queryFn: ({ signal }) => api.listSegmentFields({ query: { list_id: listId }, signal }),
    staleTime: FRESH_MS,
  });
}

/** The finished rules of a draft; undefined until the fields are known. */
export function useConditions(listId: string, draft: SegmentDraft): ReadDraft | undefined {
  const { data } = useSegmentFields(listId);
  return data && readDraft(draft, data);
}

/** @param words a part of the name or the subject */
export function useCampaigns(words: string) {
  const { api, workspace } = usePlace();
  return useQuery({
    queryKey: ["campaigns", workspace.id, "names", words],
    queryFn: ({ signal }) =>
      api.listCampaigns({ query: { limit: PAGE, ...(words && { search: words }) }, signal }),
    enabled: mayCall(workspace, "listCampaigns"),
    staleTime: FRESH_MS,
    placeholderData: keepPreviousData,
  });
}

/** The name of one campaign, which may be too old for the newest page. */
export function useCampaignName(id: string): string | undefined {
  const { api, workspace } = usePlace();
  const newest = useCampaigns("");
  const near = newest.data?.campaigns.find((one) => one.id === id)?.name;
  const far = useQuery({
    queryKey: ["campaign-name", workspace.id, id],
    queryFn: async ({ signal }) => (await api.getCampaign({ id, signal })).name,
    enabled: id !== "" && newest.isSuccess && near === undefined,
    staleTime: FRESH_MS,
  });
  return near ?? far.data;
}

/** What the builder asks the API for: the fields of rules, and the names behind ids. */
import type { Posthaste, Schema } from "@posthaste/client";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { mayCall, usePlace } from "../../api/session.tsx";
import type { Option } from "../choice.tsx";
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

/** All segments of the workspace; there are at most 1,000. */
export function useAllSegments() {
  const { api, workspace } = usePlace();
  return useQuery({
    queryKey: ["segments", workspace.id, "all"],
    queryFn: ({ signal }) => everySegment(api, signal),
    staleTime: FRESH_MS,
  });
}

async function everySegment(api: Posthaste, signal: AbortSignal): Promise<readonly Schema<"Segment">[]> {
  const segments: Schema<"Segment">[] = [];
  for await (const one of api.listSegments({ query: { limit: PAGE }, signal })) segments.push(one);
  return segments;
}

export function useMailingLists() {
  const { api, workspace } = usePlace();
  return useQuery({
    queryKey: ["lists", workspace.id, "names"],
    queryFn: ({ signal }) => api.listMailingLists({ signal }),
    enabled: mayCall(workspace, "listMailingLists"),
    staleTime: FRESH_MS,
  });
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

export function useCampaignLinks(id: string) {
  const { api, workspace } = usePlace();
  return useQuery({
    queryKey: ["campaign-links", workspace.id, id],
    queryFn: ({ signal }) => api.listCampaignLinks({ id, signal }),
    enabled: id !== "",
    staleTime: FRESH_MS,
  });
}

/** Options that have the words in their name; the chosen one always, or the field would lose its text. */
export function matching(options: readonly Option[], words: string, chosen: string): readonly Option[] {
  const wanted = words.trim().toLowerCase();
  const current = options.find(({ id }) => id === chosen);
  if (wanted === "" || wanted === current?.name.toLowerCase()) return options;
  return options.filter((one) => one === current || one.name.toLowerCase().includes(wanted));
}

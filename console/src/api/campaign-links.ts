/** The links of a campaign, with what was clicked. */
import { useQuery } from "@tanstack/react-query";
import { mayCall, usePlace } from "./session.tsx";

const FRESH_MS = 60_000;

/** @param id of a campaign; empty while none is chosen */
export function useCampaignLinks(id: string) {
  const { api, workspace } = usePlace();
  return useQuery({
    queryKey: ["campaign-links", workspace.id, id],
    queryFn: ({ signal }) => api.listCampaignLinks({ id, signal }),
    enabled: id !== "" && mayCall(workspace, "listCampaignLinks"),
    staleTime: FRESH_MS,
  });
}

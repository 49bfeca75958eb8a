/** The links of a campaign, with what was clicked. */
import { useQuery } from "@tanstack/react-query";
import { usePlace } from "./session.tsx";

/** @param id of a campaign; empty while none is chosen */
export function useCampaignLinks(id: string) {
  const { api, workspace } = usePlace();
  return useQuery({
    queryKey: ["campaign-links", workspace.id, id],
    queryFn: ({ signal }) => api.listCampaignLinks({ id, signal }),
    enabled: id !== "",
  });
}

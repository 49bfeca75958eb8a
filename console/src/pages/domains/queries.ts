/** What the pages of domains load. */
import { useQuery } from "@tanstack/react-query";
import { usePlace } from "../../api/session.tsx";

export function useDomains() {
  const { api, workspace } = usePlace();
  return useQuery({
    queryKey: ["domains", workspace.id],
    queryFn: ({ signal }) => api.listSendingDomains({ signal }),
  });
}

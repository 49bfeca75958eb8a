/** The sending domains of the workspace. */
import { useQuery } from "@tanstack/react-query";
import { usePlace } from "./session.tsx";

export function useDomains() {
  const { api, workspace } = usePlace();
  return useQuery({
    queryKey: ["domains", workspace.id],
    queryFn: ({ signal }) => api.listSendingDomains({ signal }),
  });
}

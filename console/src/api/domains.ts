/** What the workspace may send from: its sending domains, and single addresses whose owner has confirmed them. */
import { useQuery } from "@tanstack/react-query";
import { mayCall, usePlace } from "./session.tsx";

export function useDomains() {
  const { api, workspace } = usePlace();
  return useQuery({
    queryKey: ["domains", workspace.id],
    queryFn: ({ signal }) => api.listSendingDomains({ signal }),
    enabled: mayCall(workspace, "listSendingDomains"),
  });
}

export function useVerifiedSenders() {
  const { api, workspace } = usePlace();
  return useQuery({
    queryKey: ["senders", workspace.id],
    queryFn: ({ signal }) => api.listVerifiedSenders({ signal }),
    enabled: mayCall(workspace, "listVerifiedSenders"),
  });
}

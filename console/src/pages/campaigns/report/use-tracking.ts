/** Whether opens and clicks of a campaign were tracked, by its own settings or those of its list. */
import type { Data } from "@posthaste/client";
import { useQuery } from "@tanstack/react-query";
import { mayCall, usePlace } from "../../../api/session.tsx";

export interface Tracking {
  /** Undefined while it is not known. */
  readonly opens: boolean | undefined;
  readonly clicks: boolean | undefined;
}

export function useTracking(campaign: Data<"getCampaign">): Tracking {
  const { api, workspace } = usePlace();
  const { mailing_list_id, enable_open_tracking, enable_click_tracking } = campaign;
  const isOwn = enable_open_tracking !== null && enable_click_tracking !== null;
  const { data } = useQuery({
    queryKey: ["list", workspace.id, mailing_list_id, "tracking"],
    queryFn: ({ signal }) => api.getMailingList({ id: mailing_list_id ?? "", signal }),
    enabled: !isOwn && mailing_list_id !== null && mayCall(workspace, "getMailingList"),
    staleTime: 60_000,
  });
  return {
    opens: enable_open_tracking ?? data?.enable_open_tracking,
    clicks: enable_click_tracking ?? data?.enable_click_tracking,
  };
}

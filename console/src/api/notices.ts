/** What needs attention in the open workspace; loaded again when the live counts change. */
import type { Schema } from "@posthaste/client";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useEffect } from "react";
import { useLive } from "./live.ts";
import { usePlace } from "./session.tsx";

interface LiveNotices {
  readonly total: number;
  readonly critical: number;
  readonly newest_id: string | null;
}

export function useNotices(withDismissed: boolean) {
  const { api, workspace } = usePlace();
  const live = useLive<LiveNotices>(workspace.id, "notices");
  const { data, error, refetch } = useQuery({
    queryKey: ["notices", workspace.id, withDismissed],
    queryFn: ({ signal }) => api.listNotices({ query: { dismissed: withDismissed }, signal }),
    placeholderData: keepPreviousData,
  });
  const open = data?.notices.filter(({ dismissed_at }) => dismissed_at === null) ?? [];
  const isNewest = live?.newest_id === null || open.some(({ id }) => id === live?.newest_id);
  const isOld = data !== undefined && live !== undefined && (live.total !== open.length || !isNewest);
  // Once for each live state. A request that is under way began before the change, so it is replaced.
  useEffect(() => {
    if (isOld && live !== undefined) void refetch();
  }, [isOld, live, refetch]);
  return {
    notices: data?.notices as readonly Schema<"Notice">[] | undefined,
    total: data ? open.length : (live?.total ?? 0),
    isUrgent: open.some(({ severity }) => severity === "critical"),
    error,
    retry: () => void refetch(),
  };
}

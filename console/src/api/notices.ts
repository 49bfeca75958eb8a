/** What needs attention in the open workspace; loaded again when the live counts change. */
import type { Schema } from "@posthaste/client";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
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
    queryKey: ["notices", workspace.id, withDismissed, live?.total, live?.newest_id],
    queryFn: ({ signal }) => api.listNotices({ query: { dismissed: withDismissed }, signal }),
    placeholderData: keepPreviousData,
  });
  const open = data?.notices.filter(({ dismissed_at }) => dismissed_at === null) ?? [];
  return {
    notices: data?.notices as readonly Schema<"Notice">[] | undefined,
    total: data ? open.length : (live?.total ?? 0),
    isUrgent: open.some(({ severity }) => severity === "critical"),
    error,
    retry: () => void refetch(),
  };
}

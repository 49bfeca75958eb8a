/** How far a campaign is: the stream's figures as they come, and the service asked now and then for those the stream lacks. */
import type { Data } from "@posthaste/client";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { useLive } from "../../../api/live.ts";
import { usePlace } from "../../../api/session.tsx";

export type Progress = Data<"getCampaignProgress">;

/** What the stream leaves out. */
type AskedOnly = "sent_at" | "completed_at" | "last_deferral" | "domains" | "other_domains" | "as_of";

const MOVING_MS = 5_000;
const RESTING_MS = 60_000;

/** @param status that of the campaign as the page has it; the page is loaded again when it has another one */
export function useProgress(id: string, status: Progress["status"]) {
  const { api, workspace } = usePlace();
  const queries = useQueryClient();
  const asked = useQuery({
    queryKey: ["campaign-progress", workspace.id, id],
    queryFn: ({ signal }) => api.getCampaignProgress({ id, signal }),
    refetchInterval: ({ state }) => (isResting(state.data) ? RESTING_MS : MOVING_MS),
  });
  const live = useLive<Omit<Progress, AskedOnly> | null>(workspace.id, `campaign:${id}`);
  // A state that was there before this page is older than any answer.
  const [latest, setLatest] = useState({ live, at: 0 });
  if (latest.live !== live) setLatest({ live, at: Date.now() });
  const isLiveNewer = latest.at > asked.dataUpdatedAt;
  const progress = asked.data && live && isLiveNewer ? { ...asked.data, ...live } : asked.data;
  const current = progress?.status;
  useEffect(() => {
    if (current === undefined || current === status) return;
    // An act of this page has it loaded again itself, when all of it is done.
    if (queries.isMutating() > 0) return;
    for (const first of ["campaign", "campaigns"]) void queries.invalidateQueries({ queryKey: [first] });
  }, [current, status, queries]);
  return {
    progress,
    error: asked.error,
    retry: () => void asked.refetch(),
    /** When the figures are from, while the service does not answer; otherwise they are of now. */
    asOf: asked.isError ? Math.max(latest.at, asked.dataUpdatedAt) : undefined,
  };
}

function isResting(progress: Progress | undefined): boolean {
  return progress !== undefined && !["sending", "scheduled"].includes(progress.status);
}

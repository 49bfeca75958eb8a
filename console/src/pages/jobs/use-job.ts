/** One job, read again when the live states say that it went on, and every few seconds where they do not. */
import { useQuery } from "@tanstack/react-query";
import { useEffect } from "react";
import { useLive } from "../../api/live.ts";
import { usePlace } from "../../api/session.tsx";
import { isRunning, type Job } from "./job-words.ts";

const POLL_MS = 3_000;

/** What the topic `jobs` says of the jobs that run or have just ended. */
export interface JobsLive {
  readonly jobs: readonly Pick<Job, "id" | "status" | "progress" | "total" | "processed" | "failed">[];
}

export function useJob(id: string) {
  const { api, workspace } = usePlace();
  const query = useQuery({
    queryKey: ["job", workspace.id, id],
    queryFn: ({ signal }) => api.getJob({ job_id: id, signal }),
    refetchInterval: ({ state: { data } }) => (data === undefined || isRunning(data) ? POLL_MS : false),
  });
  const live = useLive<JobsLive>(workspace.id, "jobs")?.jobs.find((one) => one.id === id);
  const moved = live && `${live.status} ${live.processed}`;
  const { refetch, data } = query;
  const isBehind = data !== undefined && moved !== undefined && moved !== `${data.status} ${data.processed}`;
  useEffect(() => {
    if (isBehind && moved !== undefined) void refetch();
  }, [isBehind, moved, refetch]);
  return query;
}

/** A row of the list with the figures of this moment. */
export function useLiveJob(job: Job): JobsLive["jobs"][number] {
  const { workspace } = usePlace();
  return useLive<JobsLive>(workspace.id, "jobs")?.jobs.find(({ id }) => id === job.id) ?? job;
}

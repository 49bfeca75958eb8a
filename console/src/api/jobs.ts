/** Jobs: one is read again when the live states say that it went on, and every few seconds where they do not. */
import type { Schema } from "@posthaste/client";
import { useQuery } from "@tanstack/react-query";
import { useEffect } from "react";
import { useLive } from "./live.ts";
import { mayCall, usePlace } from "./session.tsx";

export type Job = Schema<"Job">;

const POLL_MS = 3_000;

/** What the topic `jobs` says of the jobs that run or have just ended. */
export interface JobsLive {
  readonly jobs: readonly LiveJob[];
}

export type LiveJob = Pick<
  Job,
  | "id"
  | "type"
  | "label"
  | "file_name"
  | "resource"
  | "status"
  | "progress"
  | "total"
  | "processed"
  | "failed"
  | "completed_at"
>;

export function isRunning({ status }: Pick<Job, "status">): boolean {
  return status === "pending" || status === "processing";
}

/** Asks nothing for a person whose role shows no jobs (`mayReadJobs`). */
export function useJob(id: string) {
  const { api, workspace } = usePlace();
  const query = useQuery({
    queryKey: ["job", workspace.id, id],
    queryFn: ({ signal }) => api.getJob({ job_id: id, signal }),
    enabled: mayReadJobs(workspace),
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

export function mayReadJobs(workspace: ReturnType<typeof usePlace>["workspace"]): boolean {
  return mayCall(workspace, "getJob");
}

/** A row of the list with the figures of this moment. */
export function useLiveJob(job: Job): LiveJob {
  const { workspace } = usePlace();
  return useLive<JobsLive>(workspace.id, "jobs")?.jobs.find(({ id }) => id === job.id) ?? job;
}

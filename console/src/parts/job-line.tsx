/** A job that was started on this page: how far it is, how it ended, and its files. The page stays free meanwhile. */
import { useQueryClient } from "@tanstack/react-query";
import { X } from "lucide-react";
import { useEffect } from "react";
import { isRunning, mayReadJobs, useJob } from "../api/jobs.ts";
import { usePlace } from "../api/session.tsx";
import { IconButton } from "./button.tsx";
import { Failure } from "./failure.tsx";
import { JobFiles, JobProgress, storyOfJob } from "./job-view.tsx";
import { say } from "./live-region.ts";

export interface StartedJob {
  readonly id: string;
  /** What it does: "Add to Customers". */
  readonly name: string;
}

interface Props {
  readonly job: StartedJob;
  /** First words of the keys of the queries that show something else when it has ended. */
  readonly changes: readonly string[];
  readonly onClose: () => void;
}

export function JobLine({ job: { id, name }, changes, onClose }: Props) {
  const { workspace } = usePlace();
  const queries = useQueryClient();
  const { data: job, error, refetch } = useJob(id);
  const isEnded = job !== undefined && !isRunning(job);
  const firsts = changes.join(" ");
  useEffect(() => {
    if (!isEnded) return;
    say(`${name}: finished`);
    for (const first of firsts.split(" ")) void queries.invalidateQueries({ queryKey: [first] });
  }, [isEnded, name, firsts, queries]);
  return (
    <section
      aria-label={name}
      className="fixed right-4 bottom-4 z-30 flex w-88 max-w-[calc(100vw-32px)] flex-col gap-2 rounded-panel bg-surface p-4 shadow-overlay"
    >
      <div className="-mt-1 flex items-start gap-2">
        <p className="min-w-0 flex-1 pt-1 font-medium">{name}</p>
        <IconButton label="Close" icon={<X size={15} aria-hidden />} onPress={onClose} className="-mr-2" />
      </div>
      {!mayReadJobs(workspace) ? (
        <JobHidden />
      ) : error && !job ? (
        <Failure error={error} onRetry={() => void refetch()} />
      ) : job ? (
        <>
          {isRunning(job) ? <JobProgress job={job} /> : <p className="text-muted">{storyOfJob(job)}</p>}
          <JobFiles job={job} />
        </>
      ) : (
        <div aria-busy="true" className="h-9" />
      )}
    </section>
  );
}

/** Instead of a job, where the role of the person shows none. */
export function JobHidden() {
  return (
    <p className="text-muted">
      The job has begun. Your role does not show jobs, so this page does not show how it ends, nor its files.
    </p>
  );
}

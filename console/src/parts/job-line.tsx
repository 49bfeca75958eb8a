/** A job that was started on this page: how far it is, how it ended, and its files. The page stays free meanwhile. */
import type { Job } from "@posthaste/client";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { X } from "lucide-react";
import { useEffect } from "react";
import { usePlace } from "../api/session.tsx";
import { IconButton } from "./button.tsx";
import { Failure } from "./failure.tsx";
import { say } from "./live-region.ts";
import { countText } from "./numbers.ts";

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

const POLL_MS = 1_000;

export function JobLine({ job: { id, name }, changes, onClose }: Props) {
  const { api, workspace } = usePlace();
  const queries = useQueryClient();
  const { data, error, refetch } = useQuery({
    queryKey: ["job", workspace.id, id],
    queryFn: ({ signal }) => api.getJob({ job_id: id, signal }),
    refetchInterval: ({ state }) => (state.data && hasEnded(state.data) ? false : POLL_MS),
  });
  const isEnded = data !== undefined && hasEnded(data);
  const firsts = changes.join(" ");
  useEffect(() => {
    if (!isEnded) return;
    say(`${name}: finished`);
    for (const first of firsts.split(" ")) void queries.invalidateQueries({ queryKey: [first] });
  }, [isEnded, name, firsts, queries]);
  return (
    <section
      aria-label={name}
      className="fixed right-4 bottom-4 z-30 w-80 max-w-[calc(100vw-32px)] rounded-panel bg-surface p-4 shadow-overlay"
    >
      <div className="-mt-1 flex items-start gap-2">
        <p className="min-w-0 flex-1 pt-1 font-medium">{name}</p>
        <IconButton label="Close" icon={<X size={15} aria-hidden />} onPress={onClose} className="-mr-2" />
      </div>
      {error ? <Failure error={error} onRetry={() => void refetch()} /> : <JobState job={data} />}
    </section>
  );
}

function JobState({ job }: { readonly job: Job | undefined }) {
  const { workspace } = usePlace();
  if (!job || !hasEnded(job)) {
    return (
      <>
        <div
          role="progressbar"
          aria-label="Progress"
          aria-valuenow={job?.progress ?? 0}
          className="my-2 h-1.5 overflow-hidden rounded-full bg-sunken"
        >
          <div
            className="h-full origin-left bg-accent transition-transform duration-100"
            style={{ transform: `scaleX(${(job?.progress ?? 0) / 100})` }}
          />
        </div>
        <p className="text-small text-muted">
          {job?.total ? `${countText(job.processed)} of ${countText(job.total)}` : "Waits to begin"}. It goes
          on when you leave this page.
        </p>
      </>
    );
  }
  const { download_url, errors_url } = job;
  const hrefOf = (path: string) => `${path}?workspace=${workspace.id}`;
  return (
    <>
      <p className="text-muted">{endOf(job)}</p>
      {(download_url ?? errors_url) && (
        <p className="mt-2 flex gap-4">
          {download_url && (
            <a href={hrefOf(download_url)} download className="text-accent hover:underline">
              Download the file
            </a>
          )}
          {errors_url && (
            <a href={hrefOf(errors_url)} download className="text-accent hover:underline">
              Why rows were refused
            </a>
          )}
        </p>
      )}
    </>
  );
}

function endOf({ status, error, succeeded, skipped, failed }: Job): string {
  if (status === "failed") return error ?? "It failed.";
  const parts = [
    `${countText(succeeded)} done`,
    skipped > 0 && `${countText(skipped)} were so already`,
    failed > 0 && `${countText(failed)} refused`,
  ];
  return `${status === "cancelled" ? "Cancelled: " : ""}${parts.filter(Boolean).join(", ")}.`;
}

function hasEnded({ status }: Job): boolean {
  return status !== "pending" && status !== "processing";
}

/** A file of the recipients: a job writes it, and it can be taken here or later from the jobs. */
import type { Data } from "@posthaste/client";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useAct } from "../../../api/act.ts";
import { mayCall, usePlace } from "../../../api/session.tsx";
import { Button } from "../../../parts/button.tsx";
import { Dialog } from "../../../parts/dialog.tsx";
import { Failure } from "../../../parts/failure.tsx";
import { saveFile } from "../../../parts/save-file.ts";
import { exportFilter, type FilterWords, filterText } from "./recipient-filter.ts";

interface Props {
  readonly campaign: Data<"getCampaign">;
  readonly filter: FilterWords;
  readonly onClose: () => void;
}

const LOOK_MS = 1_000;

export function ExportDialog({ campaign: { id, name }, filter, onClose }: Props) {
  const { api, workspace } = usePlace();
  const start = useAct({
    run: () => api.exportCampaignRecipients({ id, body: { ...exportFilter(filter), label: name } }),
    changes: ["jobs"],
    done: "The export has begun",
  });
  const jobId = start.data?.job_id;
  const job = useQuery({
    queryKey: ["job", workspace.id, jobId],
    queryFn: ({ signal }) => api.getJob({ job_id: jobId ?? "", signal }),
    enabled: jobId !== undefined && mayCall(workspace, "getJob"),
    refetchInterval: ({ state }) => (isOver(state.data) ? false : LOOK_MS),
  });
  const take = useAct({
    run: async () => {
      const file = await api.downloadJobResult({ job_id: jobId ?? "" });
      saveFile(`${name}.csv`, await file.blob());
    },
    changes: [],
    done: "The file is saved",
    onDone: onClose,
  });
  const words = filterText(filter);
  const error = start.error ?? job.error ?? take.error;
  return (
    <Dialog title="Export recipients" isOpen onClose={onClose}>
      <p className="text-muted">
        {words === "" ? "All recipients" : `Recipients: ${words}`}. The CSV file has a row for each, with the
        state of the message and when the person opened, clicked and unsubscribed.
      </p>
      <p role="status" className="mt-3 min-h-5">
        {jobId !== undefined && (
          <>
            {job.data?.status === "completed"
              ? "The file is ready."
              : `Writing: ${job.data?.progress ?? 0} %.`}{" "}
            It is also on the page of{" "}
            <Link to={`/${workspace.id}/jobs`} className="text-accent underline">
              jobs
            </Link>
            .
          </>
        )}
      </p>
      {error && <Failure error={error} />}
      <div className="mt-6 flex justify-end gap-2">
        <Button onPress={onClose}>Close</Button>
        {jobId === undefined ? (
          <Button kind="primary" onPress={() => start.mutate()} isPending={start.isPending}>
            Export
          </Button>
        ) : (
          job.data?.status === "completed" && (
            <Button kind="primary" onPress={() => take.mutate()} isPending={take.isPending}>
              Download
            </Button>
          )
        )}
      </div>
    </Dialog>
  );
}

function isOver(job: Data<"getJob"> | undefined): boolean {
  return job !== undefined && !["pending", "processing"].includes(job.status);
}
